"""The commands of docs/reports.md do what the page says."""

import re
import shlex
from pathlib import Path

import pytest
from command import EXAMPLES, pfmon

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reports.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.S | re.M)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the examples, and with the results that the page compares."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    for name, size in (("before.json", "100"), ("after.json", "150"), ("run.rec", "")):
        words = ("--json", f"--outfile={name}", "-e", "loads_retired") if size else (f"--record={name}",)
        assert pfmon(*words, "--no-cmd-output", "examples/ia64/sort", size or "50").returncode == 0
    (tmp_path / "text.txt").write_text("what gzip reads\n" * 50)
    return tmp_path


@pytest.mark.slow
def test_the_commands_run(folder: Path) -> None:
    files = [text for kind, text in BLOCKS if kind == "toml"]
    assert len(files) == 2
    (folder / "predictors.toml").write_text(files.pop(0))
    assert pfmon("sweep", "-q", "--table", "predictors.toml").stdout.startswith("percent  predictor.kind  cycles  ")
    program = re.compile(
        r"\[\[program\]\]\ncommand = \[\"/bin/gzip.*?(?=\n\n)", re.S
    )  # of the host, which may have none
    (folder / "sizes.toml").write_text(program.sub("", files[0]).replace("[5000, 20000]", "[100, 300]"))
    commands = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
    assert len(commands) >= 6
    for command in commands:
        words = shlex.split(command)
        if words[-1] == "PROGRAM":  # one with threads, which the examples have not
            continue
        assert words[0] == "pfmon"
        done = pfmon(*words[1:])
        assert done.returncode == 0, done
    made = {path.name for path in folder.iterdir()}
    assert {"hashmap.html", "sort.html", "diff.html", "sizes.sweep"} <= made
