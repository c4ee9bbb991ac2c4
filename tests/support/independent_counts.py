"""How many instructions a program of the host executes: what Valgrind and gdb say, which share nothing with qemu."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

STEPS = """
import gdb
gdb.execute("starti", to_string=True)
steps = 0
while gdb.selected_inferior().pid:
    gdb.execute("stepi", to_string=True)
    steps += 1
print("STEPS", steps)
"""


def valgrind(pattern: str, *options: str | Path, status: int = 0) -> list[int]:
    """The numbers in what a tool of Valgrind says of a program that exits with ``status``. It must not guess what
    branches mean: it then counts some that were not there, and misses others."""
    command = ["valgrind", "--vex-guest-chase=no", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    found = re.search(pattern, done.stderr)
    assert found, done.stderr
    return [int(number.replace(",", "")) for number in found.groups()]


def instructions_by_valgrind(*command: str | Path, status: int = 0) -> int:
    """Instructions of a program. Each iteration of a repeated string instruction is one."""
    options = ["--tool=lackey", "--basic-counts=yes"]
    return valgrind(r"guest instrs:\s+([\d,]+)", *options, *command, status=status)[0]


def steps(command: Sequence[str], directory: Path) -> int:
    """How often gdb can step. The test is skipped where gdb may not trace."""
    script = directory / "steps.py"
    script.write_text(STEPS)
    told = subprocess.run(
        ["gdb", "-q", "-batch", "-nx", "-x", script, "--args", *command], capture_output=True, text=True, check=True
    )
    if "STEPS" not in told.stdout:
        pytest.skip(f"gdb may not trace programs here: {told.stderr.strip()[-200:]}")
    return int(told.stdout.split()[-1])
