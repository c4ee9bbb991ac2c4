"""Cost of two programs on one core, or on two, against the same programs alone.

    python benchmarks/cores.py [--repeat N] [FOLDER]

Instructions per second of processor time, whole runs with cycles and misses on Montecito: of both together, as a ratio
to those of the two programs one after the other in the same run, medians. FOLDER: large programs with their inputs, and
a cases.tsv whose first column are commands; without it the examples.
"""

import argparse
import os
import resource
import shlex
import statistics
import sys
from pathlib import Path

import pfmon

EVENTS = "cpu_op_cycles_all,ia64_inst_retired,l3_misses"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "ia64"
PAIRS = [
    ("chase 16384 100000", "chase 16384 100000"),
    ("matmul", "sort"),
    ("hashmap", "lz"),
    ("dispatch", "sha256"),
    ("stream", "nbody"),
]


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def commands(folder: str | None) -> list[tuple[list[str], list[str]]]:
    if folder is None:
        return [tuple([str(EXAMPLES / words[0]), *words[1:]] for words in map(str.split, pair)) for pair in PAIRS]
    os.chdir(folder)
    rows = [line.split("\t") for line in Path("cases.tsv").read_text().splitlines()]
    given = [shlex.split(row[0]) for row in rows if row[1] == "-"]  # those that read nothing
    return list(zip(given[::2], given[1::2], strict=False))


def rate(*pair: list[str], **options: object) -> float:
    """Million instructions a second, of both."""
    before = processor_time()
    if options:
        runs = pfmon.smt(pair, events=EVENTS, pmu="montecito", capture=True, **options).threads
    else:
        runs = [pfmon.run(command, events=EVENTS, pmu="montecito", capture=True) for command in pair]
    return sum(run.retired for run in runs) / (processor_time() - before) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="large programs, with cases.tsv")
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    print(f"{'alone':>8} {'one core':>9} {'two cores':>10}  programs")
    ratios = []
    for pair in commands(asked.folder):
        rows = [(rate(*pair), rate(*pair, cores=1), rate(*pair, cores=2)) for _ in range(asked.repeat)]
        alone, core, two = (statistics.median(column) for column in zip(*rows, strict=True))
        ratios.append((core / alone, two / alone))
        names = " | ".join(Path(command[0]).name for command in pair)
        print(f"{alone:8.1f} {core / alone:9.2f} {two / alone:10.2f}  {names}")
        sys.stdout.flush()
    means = [statistics.geometric_mean(column) for column in zip(*ratios, strict=True)]
    print(f"{'':8} {means[0]:9.2f} {means[1]:10.2f}  geometric mean")


if __name__ == "__main__":
    main()
