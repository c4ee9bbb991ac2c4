"""A folder of programs: what counting costs of each, recorded, counted again and on a machine.

    python benchmarks/real.py CASES.tsv [--yardstick COMMAND] [--machine] [--repeat N] [WORD ...]

CASES.tsv has a line for each run: the command, the file that is its standard input (or -), further columns that are
not read; commands start in its folder. WORDs choose the lines that contain one. All times are processor time (user and
system) of whole commands, start-up included, the best of N runs that take turns. Columns are ratios of time: counting
three events over recording (and counting), over counting the recording again, over counting events of the machine;
and the yardstick over counting. B/instr: bytes of the recording an instruction.
"""

import argparse
import math
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from speed import machine, mean

PFMON = [sys.executable, "-m", "pfmon"]
EVENTS = ["-e", "ia64_inst_retired,loads_retired,nops_retired"]
MACHINE = ["-e", "cpu_cycles,l2_misses,br_mispred_detail_all_wrong_path"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "HOME": "/"}
WAYS = ("count", "record", "replay", "machine", "yardstick")


class Case(NamedTuple):
    """A line of the table."""

    command: list[str]
    stdin: str


def cases(table: Path, words: list[str]) -> list[Case]:
    """The lines with one of the words, or all."""
    lines = (line.split("\t") for line in table.read_text().splitlines() if line)
    return [Case(row[0].split(), row[1]) for row in lines if not words or any(word in row[0] for word in words)]


def seconds(command: list[str], case: Case, folder: Path) -> tuple[float, bytes]:
    """Processor time of a command, in seconds, and what it printed."""
    with Path(os.devnull if case.stdin == "-" else folder / case.stdin).open("rb") as stdin:
        before = os.times()
        done = subprocess.run(
            command, cwd=folder, env=ENVIRONMENT, stdin=stdin, capture_output=True, check=False, timeout=3600
        )
        after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, done.stdout


def commands(case: Case, ways: list[str], yardstick: list[str], scratch: Path) -> dict[str, list[str]]:
    """The command line of each way."""
    counts = [*EVENTS, "--outfile", str(scratch / "counts")]
    recording = str(scratch / "recording")
    every = {
        "count": [*PFMON, *counts, *case.command],
        "record": [*PFMON, *counts, "--record", recording, *case.command],
        "replay": [*PFMON, *EVENTS, "--outfile", str(scratch / "again"), "--replay", recording],
        "machine": [*PFMON, *MACHINE, "--outfile", str(scratch / "machine"), *case.command],
        "yardstick": [*yardstick, *case.command],
    }
    return {way: every[way] for way in ways}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--yardstick", default="", help="a command that runs an IA-64 program")
    parser.add_argument("--machine", action="store_true", help="count events of the machine, too")
    parser.add_argument("--repeat", type=int, default=2)
    given = parser.parse_intermixed_args()
    left_out = set() if given.machine else {"machine"}
    left_out |= set() if given.yardstick else {"yardstick"}
    ways = [way for way in WAYS if way not in left_out]
    print(f"machine: {machine()}, Python {platform.python_version()}")
    headings = "".join(f"{way:>10}" for way in ways[1:])
    print(f"{'command':<32}{'M instr':>9}{'count s':>9}{headings}{'B/instr':>9}")
    ratios: dict[str, list[float]] = {way: [] for way in ways[1:]}
    for case in cases(given.cases, given.words):
        measure(case, ways, given, ratios)
    print(f"{'mean':<50}" + "".join(f"{mean(found) if found else math.nan:>10.2f}" for found in ratios.values()))


def measure(case: Case, ways: list[str], given: argparse.Namespace, ratios: dict[str, list[float]]) -> None:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        lines = commands(case, ways, given.yardstick.split(), scratch)
        best = dict.fromkeys(ways, math.inf)
        printed: dict[str, bytes] = {}
        for _ in range(given.repeat):
            for way, line in lines.items():
                spent, printed[way] = seconds(line, case, given.cases.parent)
                best[way] = min(best[way], spent)
        counts = (scratch / "counts").read_text()
        if (scratch / "again").read_text() != counts:
            sys.exit(f"{' '.join(case.command)}: the recording counts otherwise than the run")
        instructions = int(counts.split()[0])
        size = (scratch / "recording").stat().st_size / instructions
    columns = ""
    for way, found in ratios.items():
        if way == "yardstick" and printed[way] != printed["count"]:
            columns += f"{'n/a':>10}"  # it cannot run this program
            continue
        found.append(best[way] / best["count"] if way == "yardstick" else best["count"] / best[way])
        columns += f"{found[-1]:>10.2f}"
    name = " ".join(case.command)[:31]
    print(f"{name:<32}{instructions / 1e6:>9.1f}{best['count']:>9.2f}{columns}{size:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
