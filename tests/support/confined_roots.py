"""Directories that programs are confined to, and such runs."""

import shutil
import subprocess
from pathlib import Path

from x86_64_host import PFMON

TOTALS = ["-e", "instructions_retired", "--outfile=/dev/null"]


def make_root(root: Path, program: Path) -> Path:
    """A root with files, links that lead out of it, and scripts; the program is /program."""
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "file").write_text("inside")
    links = {"self": "/file", "sub/next": "../../secret", "loop": "loop", "dangling": "later", "dangling-2": "/nowhere"}
    for name, target in {**links, "to-program": "/program"}.items():
        (root / name).symlink_to(target)
    shutil.copy(program, root / "program")
    scripts = {"script": "#! /program  child  \nrest\n", "script-2": "#!/script", "script-3": "#!missing\n"}
    for name, text in {**scripts, "script-loop": "#!/script-loop\n", "text": "text"}.items():
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    (root / "file").chmod(0o644)
    return root


def run(root: Path, *words: str | Path, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """What a confined program prints."""
    command = [*PFMON, *TOTALS, f"--sysroot={root}", "--confine", *options, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
