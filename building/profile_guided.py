"""Runs pfmon on small programs while it is built, so that the compiler learns what a machine's loops mostly do.

The build that runs is one that counts its branches (-fprofile-generate). Caches are the machine's, where these programs
miss little, and tiny ones, where they miss as large programs do.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAMS = (
    "branchy 200000 50",
    "dispatch 20000",
    "fib 24",
    "hashmap 20000",
    "lz 50000",
    "matmul 48",
    "queens 8",
    "sort 20000",
    "strings 20000",
)
EVENTS = "cpu_cycles,ia64_inst_retired,back_end_bubble_all,l1d_read_misses_all,l2_misses,l3_misses"
CACHES = ((), ("--set=l1i.size=1K", "--set=l1d.size=1K", "--set=l2.size=32K"))

# On an x86-64 host: those of its own engine, on an out-of-order machine.
X86_PROGRAMS = (
    "branchy 200000",
    "dispatch 30000",
    "fib 24",
    "lz 30000",
    "matmul 48",
    "nbody 3000",
    "queens 8",
    "sha256 2000",
    "sort 20000",
)
X86_EVENTS = "cycles,instructions,cache-misses,branch-misses"
X86_CACHES = ((), ("--set=l1d.size=8K", "--set=l2.size=64K"))

# The command ends its process without the compiler's counts being written.
RUN = """
import os, sys
os._exit = sys.exit
from pfmon.__main__ import command
command()
"""


def train(root: Path, examples: Path) -> None:
    """Run the build in ``root``, a folder of packages, on programs below ``examples``. CalledProcessError: it does not
    run."""
    run_programs(root, examples / "ia64", PROGRAMS, EVENTS, CACHES)
    if sys.platform == "linux" and platform.machine() == "x86_64":
        run_programs(root, examples / "x86_64", X86_PROGRAMS, X86_EVENTS, X86_CACHES)


def run_programs(
    root: Path, examples: Path, programs: Sequence[str], events: str, caches: Sequence[Sequence[str]]
) -> None:
    """Count events of programs with each of these settings of caches."""
    environment = {**os.environ, "PYTHONPATH": str(root.resolve())}
    for program in programs:
        words = program.split()
        guest = [str(examples.resolve() / words[0]), *words[1:]]
        for changed in caches:
            options = ["-e", events, "--unlimited", *changed]
            command = [sys.executable, "-B", "-c", RUN, *options, *guest]
            subprocess.run(command, cwd=examples, env=environment, stdout=subprocess.DEVNULL, check=True)
