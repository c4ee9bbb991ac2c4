"""Where the cycles of real programs go: the cycle breakdown of each run of a folder, as one table.

    python benchmarks/cpi_table.py CASES.tsv [--machine NAME] [--set FIGURE=VALUE ...] [--parts] [WORD ...]

CASES.tsv is that of benchmarks/real.py; WORDs choose the lines that contain one. A line for each run: million
instructions, cycles per instruction, and the shares of the cycles by what they went to, in percent: cycles that retired
something, bubbles that waited for data, for the register stack engine, for a misprediction, for instructions, and all
others. --parts lists below it what the shares consist of, --set changes figures of the machine. Counts only: the table
is the same on every host.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from real import ENVIRONMENT, PFMON, Case, cases
from speed import mean

STACK = "register stack engine"
"""Cause with a column of its own in the table; the report has it among the other stalls."""
COLUMNS = {
    "inherent": "inherent execution",
    "data": "data access",
    "RSE": STACK,
    "mispredict": "branch mispredicts",
    "fetch": "instruction fetch",
    "other": "other stalls",
}
"""Heading -> part of the report, or of its other stalls."""


class Breakdown(NamedTuple):
    """A run's instructions and cycles; cycles by heading, and by what the report's parts consist of."""

    machine: str
    instructions: int
    cycles: int
    columns: dict[str, int]
    parts: dict[str, int]


def breakdown(case: Case, folder: Path, options: list[str]) -> Breakdown:
    """Runs the program and reads its report."""
    with tempfile.TemporaryDirectory() as scratch:
        outfile = Path(scratch) / "report"
        command = [*PFMON, *options, "--report=cpi", "--json", "--outfile", str(outfile), "--", *case.command]
        with Path(os.devnull if case.stdin == "-" else folder / case.stdin).open("rb") as stdin:
            done = subprocess.run(
                command, cwd=folder, env=ENVIRONMENT, stdin=stdin, capture_output=True, check=False, timeout=3600
            )
        if not outfile.exists():
            sys.exit(f"{' '.join(case.command)}: {done.stderr.decode(errors='replace').strip()}")
        report = json.loads(outfile.read_text())["report"]
    parts = {name: count for part in report["parts"].values() for name, count in part["of"].items()}
    totals = {name: part["cycles"] for name, part in report["parts"].items()}
    totals["other stalls"] -= parts[STACK]
    totals[STACK] = parts[STACK]
    columns = {heading: totals[name] for heading, name in COLUMNS.items()}
    return Breakdown(report["machine"], report["instructions"], report["cycles"], columns, parts)


def line(name: str, found: Breakdown) -> str:
    """A row of the table."""
    shares = "".join(f" {100 * count / found.cycles:>7.1f} |" for count in found.columns.values())
    per = found.cycles / found.instructions
    return f"| {name:<30} | {found.instructions / 1e6:>7.1f} | {per:>5.2f} |{shares}"


def details(found: Breakdown) -> str:
    """Parts of the shares, from half a percent of the cycles on."""
    shares = {name: 100 * count / found.cycles for name, count in found.parts.items()}
    return "; ".join(f"{name} {share:.1f}" for name, share in shares.items() if share >= 0.5)


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--machine", default="itanium2", help="itanium, itanium2, montecito, or a file")
    parser.add_argument("--set", action="append", default=[], metavar="FIGURE=VALUE", help="change a figure")
    parser.add_argument("--parts", action="store_true", help="list what the shares consist of")
    given = parser.parse_intermixed_args()
    options = [f"--machine={given.machine}", *(f"--set={change}" for change in given.set)]
    ratios: list[float] = []
    for case in cases(given.cases, given.words):
        found = breakdown(case, given.cases.parent, options)
        if not ratios:
            print_head(found)
        ratios.append(found.cycles / found.instructions)
        print(line(" ".join(case.command).removeprefix("./")[:30], found), flush=True)
        if given.parts:
            print(f"    {details(found)}")
    print(f"geometric mean of the CPI: {mean(ratios) if ratios else math.nan:.3f}")


def print_head(found: Breakdown) -> None:
    """The machine and the columns."""
    headings = "".join(f" {heading:>7} |" for heading in COLUMNS)
    print(f"machine: {found.machine}\n")
    print(f"| {'program':<30} | {'M instr':>7} | {'CPI':>5} |{headings}")
    print("|---|" + "---:|" * (2 + len(COLUMNS)))


if __name__ == "__main__":
    main()
