"""Runs pfmon on small programs while it is built, so that the compiler learns what a machine's loops mostly do.

The build that runs is one that counts its branches (-fprofile-generate). Caches are the machine's, where these programs
miss little, and tiny ones, where they miss as large programs do.
"""

from __future__ import annotations

import os
import subprocess
import sys
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

# The command ends its process without the compiler's counts being written.
RUN = """
import os, sys
os._exit = sys.exit
from pfmon.__main__ import command
command()
"""


def train(root: Path, examples: Path) -> None:
    """Run the build in ``root``, a folder of packages. CalledProcessError: it does not run."""
    environment = {**os.environ, "PYTHONPATH": str(root.resolve())}
    for program in PROGRAMS:
        words = program.split()
        guest = [str(examples.resolve() / words[0]), *words[1:]]
        for caches in CACHES:
            options = ["-e", EVENTS, "--unlimited", *caches]
            command = [sys.executable, "-B", "-c", RUN, *options, *guest]
            subprocess.run(command, cwd=examples, env=environment, stdout=subprocess.DEVNULL, check=True)
