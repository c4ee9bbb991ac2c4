"""Tries a wheel in a fresh Debian that has Python and no compiler.

    python building/try_wheel.py [--suite bookworm] [--root DIR] WHEEL

As root: debootstrap makes the system in DIR (a temporary one, or one that a run before has made), pip fetches what the
wheel depends on as wheels, and pfmon is installed from these alone. Then it runs a program by each engine of its own,
makes a page, and is asked for what needs qemu-user, which is not there. It prints each command with its output; exit
status 1: one did not end as it has to.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from wheels import ROOT

PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"
SYSTEMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64")
"""What pip may fetch for the system: the wheels' own platform and older ones."""
THREADS = 'python3 -c "import threading; t = threading.Thread(target=print); t.start(); t.join()"'
MISSING = "install the package qemu-user (Debian: apt-get install qemu-user)"


class Trial(NamedTuple):
    """A command's words, its exit status, and what it has to print."""

    words: str
    status: int
    printed: str


TRIALS = (
    Trial("sh -c '! command -v cc gcc clang make qemu-x86_64'", 0, ""),
    Trial("v/bin/pfmon -e instructions,cycles examples/ia64/noploop 1000", 0, " instructions"),
    Trial("v/bin/pfmon -e instructions,cycles examples/x86_64/queens", 0, "93755 instructions"),
    Trial("v/bin/pfmon -e instructions ls /", 0, " instructions"),
    Trial("v/bin/pfmon --report html:page.html examples/x86_64/queens", 0, "92"),
    Trial("v/bin/pfmon demo", 0, "times as fast"),
    Trial("v/bin/pfmon -e instructions examples/i386/queens", 2, MISSING),
    Trial(f"v/bin/pfmon -e instructions {THREADS}", 125, MISSING),
)
"""In /root of the system; 93755: what qemu counts, too."""


def make_system(root: Path, suite: str) -> None:
    """Make the system, unless it is there."""
    if not (root / "usr/bin/python3").exists():
        words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(root)]
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def inside(root: Path, words: str) -> subprocess.CompletedProcess[str]:
    """Run a shell's command in /root of the system, with /proc and /dev in a mount namespace of its own."""
    mounts = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" sh -c "cd /root && $2"'
    command = ["unshare", "--mount", "sh", "-c", mounts, "sh", str(root), words]
    clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, env=clean, stdin=subprocess.DEVNULL, text=True, check=False, **output)


def install(root: Path, wheel: Path) -> None:
    """Install the wheel, and what it depends on, from wheels alone."""
    home = root / "root"
    for made in ("v", "wheels"):
        shutil.rmtree(home / made, ignore_errors=True)
    shutil.copytree(ROOT / "examples", home / "examples", dirs_exist_ok=True)
    version = inside(root, 'python3 -c "import sys; print(*sys.version_info[:2], sep=chr(46))"').stdout.strip()
    chosen = [*("--only-binary=:all:", "--implementation=cp"), f"--python-version={version}"]
    chosen += [f"--platform={name}" for name in SYSTEMS]
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", *chosen, "--dest", str(home / "wheels"), str(wheel)]
    subprocess.run(fetch, check=True)
    done = inside(root, "python3 -m venv v && v/bin/pip install --quiet --no-index --find-links wheels pfmon")
    if done.returncode:
        sys.exit(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="bookworm", help="of Debian (bookworm)")
    parser.add_argument("--root", type=Path, help="the system's folder")
    parser.add_argument("wheel", type=Path)
    given = parser.parse_args()
    failed = 0
    with TemporaryDirectory() as made:
        root = given.root or Path(made, "system")
        make_system(root, given.suite)
        install(root, given.wheel)
        for trial in TRIALS:
            done = inside(root, trial.words)
            good = done.returncode == trial.status and trial.printed in done.stdout
            failed += not good
            print(
                f"$ {trial.words}\n{done.stdout}{'' if good else f'exit status {done.returncode}: WRONG'}", flush=True
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
