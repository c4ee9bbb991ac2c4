"""How long the out-of-order machine takes: x86-64 programs with cycles, misses and mispredictions, beside cachegrind.

    python benchmarks/out_of_order.py [--repeat N] [PROGRAM ARGUMENT ...]

Elapsed and processor time of whole commands: qemu alone; `pfmon` with cycles, last-level cache and branch events on two
counters and more (--unlimited); `valgrind --tool=cachegrind --cache-sim=yes --branch-sim=yes`. Each is the least of N runs,
taken in turns. The goal is half of cachegrind's elapsed time as the geometric mean, and none above 0.8.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from qemu import EXAMPLES, PROGRAMS
from speed import machine

EVENTS = "UNHALTED_CORE_CYCLES,LLC_REFERENCES,LLC_MISSES,BRANCH_MISSES_RETIRED"
PFMON = [sys.executable, "-m", "pfmon", "--unlimited", "-e", EVENTS]
CACHEGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", "--cachegrind-out-file=/dev/null"]
MORE = {"chase": ["1024", "10000000"], "stream": ["3000"], "arrays": ["1000"]}


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Elapsed and processor time of a command and what it starts."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    elapsed, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return elapsed, used


def least(commands: Sequence[Sequence[str]], repeat: int) -> list[tuple[float, float]]:
    """The least of some runs of each command, taken in turns."""
    runs = [[timed(command) for command in commands] for _ in range(repeat)]
    return [min(one[place] for one in runs) for place in range(len(commands))]


def main() -> None:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not here")
    examples = {**PROGRAMS, **MORE}
    commands = (
        [given.program]
        if given.program
        else [[str(EXAMPLES / "x86_64" / name), *examples[name]] for name in sorted(examples)]
    )
    print(machine())
    print(f"{'program':16} {'qemu':>7} {'pfmon':>7} {'valgrind':>8}  elapsed  processor")
    ratios = []
    for command in commands:
        qemu, pfmon, valgrind = least(
            [["qemu-x86_64", *command], [*PFMON, *command], [*CACHEGRIND, *command]], given.repeat
        )
        ratios.append((pfmon[0] / valgrind[0], pfmon[1] / valgrind[1]))
        name = Path(command[0]).name
        print(
            f"{name:16} {qemu[0]:7.2f} {pfmon[0]:7.2f} {valgrind[0]:8.2f}  {ratios[-1][0]:7.2f}  {ratios[-1][1]:9.2f}",
            flush=True,
        )
    means = [math.exp(sum(math.log(one[place]) for one in ratios) / len(ratios)) for place in (0, 1)]
    print(f"{'geometric mean':16} {'':24}  {means[0]:7.2f}  {means[1]:9.2f}")


if __name__ == "__main__":
    main()
