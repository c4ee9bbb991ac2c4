"""Runs pfmon on small programs while it is built, so that the compiler learns what a machine's loops mostly do.

What is run is a build that counts (-fprofile-generate), in a folder of its own. Caches are the machine's, where these
programs miss little, and tiny ones, where they miss as large programs do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
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


def train(package: Path, library: Path, modules: str, examples: Path) -> None:
    """Run a build: the sources of a ``package``, the ``library`` of its compiled modules, and their list.
    CalledProcessError: it does not run."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / package.name
        shutil.copytree(package, own, ignore=shutil.ignore_patterns("*.c", "*.o", "*.so", "*.bin", "__pycache__"))
        shutil.copy(library, own / library.name)
        (own / "compiled.txt").write_text(modules)
        environment = {**os.environ, "PYTHONPATH": folder}
        for program in PROGRAMS:
            words = program.split()
            guest = [str(examples.resolve() / words[0]), *words[1:]]
            for caches in CACHES:
                options = ["-e", EVENTS, "--unlimited", *caches]
                command = [sys.executable, "-B", "-c", RUN, *options, *guest]
                subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
