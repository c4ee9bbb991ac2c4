"""Published figures of processors as small programs: rows of tests/data/machine, assembled, and measured end to end.

A row is a loop: ``repeat`` times ``body``, then a counter. Its cycles are those of a run with twice the iterations less
those of a run with the iterations, so that set-up and start count for nothing.

    python tests/support/published_figures.py [--write] MACHINE
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pfmon
from pfmon.machine import config

DATA = Path(__file__).resolve().parents[1] / "data" / "machine"
MACHINES = ("nehalem", "skylake", "icelake", "zen3", "zen4")
OLDEST = "core2"
"""A machine with fewer figures, which are for the comparison in the page."""
YES = "yes"
CYCLES = "cycles"

KINDS = {
    "latency": "dependence chains of arithmetic",
    "throughput": "throughputs by port",
    "memory latency": "load-to-use latency of L1, L2, L3, memory",
    "store forwarding": "store forwarding, and where it fails",
    "splits": "accesses across lines and pages",
    "aliasing": "loads behind stores at a distance of 4 KB",
    "serialising": "serialising and locked instructions",
    "microcode": "microcoded instructions, strings",
    "parallel misses": "misses that overlap, fill buffers",
    "translation": "TLB misses and page walks",
    "fusion": "macro-fusion and micro-fusion",
    "fetch": "fetch, length-changing prefixes, decoders, µop cache",
    "misprediction": "penalties of mispredicted branches",
    "prediction": "patterns, loops and indirect branches",
    "idioms": "zero idioms and move elimination",
    "partial registers": "partial registers and flags",
    "window": "reorder buffer, reservation station, load and store buffers",
    "prefetch": "software prefetches and non-temporal accesses",
}
"""Kind of a figure -> what it is of."""


class Source(NamedTuple):
    """Where figures are published; ``phrase``: what a configuration that cites it has."""

    key: str
    author: str
    title: str
    edition: str
    phrase: str


class Figure(NamedTuple):
    """A row: the cycles of one ``body`` are from ``low`` to ``high``; ``place``: where in the source, and which number.

    ``holds``: "yes", or why the machine has another time.
    """

    kind: str
    name: str
    setup: str
    body: str
    repeat: str
    iterations: str
    low: str
    high: str
    source: str
    place: str
    holds: str


def sources() -> dict[str, Source]:
    """The sources by their keys."""
    return {one.key: one for one in map(Source._make, table("sources", Source._fields))}


def figures(machine: str) -> list[Figure]:
    """The rows of a machine."""
    return list(map(Figure._make, table(machine, Figure._fields)))


def table(name: str, columns: Sequence[str]) -> list[list[str]]:
    """The lines of a table behind its header."""
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert header == list(columns), (name, header)
    return lines


def cited_by_configuration(source: Source) -> bool:
    """Whether the figures of any processor here have this source."""
    tables = [path for path in Path(config.__file__).parent.rglob("*") if path.suffix in (".toml", ".csv")]
    return any(source.phrase.casefold() in path.read_text(encoding="utf-8").casefold() for path in tables)


def assembly(figure: Figure, number: int = 0) -> str:
    """The program of a row, without what all have; with an argument, it makes twice as many iterations."""
    return f"""
.p2align 6
.globl start_{number}
start_{number}:
mov ecx, [rsp]
dec ecx
mov r15d, {figure.iterations}
shl r15d, cl
xor ecx, ecx
lea rsi, data[rip]
{lines(figure.setup)}
jmp 802f
.p2align 6
802:
.rept {figure.repeat}
{lines(figure.body)}
.endr
dec r15
jnz 802b
mov eax, 60
xor edi, edi
syscall
"""


def lines(text: str) -> str:
    """Instructions that semicolons separate, one a line."""
    return text.replace(";", "\n")


def prelude() -> str:
    """What all programs begin with."""
    return (DATA / "prelude.s").read_text(encoding="utf-8")


def assemble(text: str, made: Path) -> None:
    """Assemble to an object. AssertionError: what the assembler says."""
    done = subprocess.run(["as", "-o", made, "-"], input=text, text=True, capture_output=True, check=False)
    assert not done.returncode, done.stderr


def build(figure: Figure, directory: Path) -> Path:
    """The static program of a row."""
    program = directory / "figure"
    assemble(prelude() + assembly(figure), directory / "figure.o")
    subprocess.run(["ld", "-e", "start_0", "-o", program, directory / "figure.o"], check=True, capture_output=True)
    return program


def measure(figure: Figure, machine: str, directory: Path) -> float:
    """Cycles of one body on a machine, by the library, as ``-e`` counts them."""
    program = str(build(figure, directory))
    once, twice = (
        pfmon.run(words, events=[CYCLES], machine=machine, mask_cpuid=True, stdout=pfmon.DEVNULL).counts[0].value
        for words in ([program], [program, "twice"])
    )
    return (twice - once) / (int(figure.iterations) * int(figure.repeat))


def is_within(figure: Figure, cycles: float) -> bool:
    """Whether these are the cycles that are published."""
    return float(figure.low) <= cycles <= float(figure.high)


class Kept(NamedTuple):
    """How many figures of a kind there are, and hold."""

    kind: str
    figures: int
    hold: int


def by_kind(results: Iterable[tuple[Figure, bool]]) -> list[Kept]:
    """The number of figures, and of those that hold, by kind."""
    listed = list(results)
    found = [[held for figure, held in listed if figure.kind == kind] for kind in KINDS]
    return [Kept(kind, len(held), sum(held)) for kind, held in zip(KINDS, found, strict=True)]


def write(machine: str, results: Iterable[tuple[Figure, bool]]) -> None:
    """Note in a machine's table which figures hold; the reasons of the others stay as they are."""
    with (DATA / f"{machine}.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Figure._fields)
        table.writerows(figure._replace(holds=YES) if holds else figure for figure, holds in results)


def main() -> None:
    """Print each row with what the machine makes of it, and the number that hold by kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", choices=(OLDEST, *MACHINES))
    parser.add_argument("--write", action="store_true", help="note in the table which figures hold")
    given = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as directory:
        for figure in figures(given.machine):
            cycles = measure(figure, given.machine, Path(directory))
            holds = is_within(figure, cycles)
            results.append((figure, holds))
            changed = "" if holds == (figure.holds == YES) else "  other than the table says"
            row = f"{figure.kind:18} {figure.name:52} {figure.low:>7} {figure.high:>7} {cycles:9.2f}"
            print(f"{row} {'holds' if holds else '-':5}{changed}", flush=True)
    for kept in by_kind(results):
        print(f"{kept.kind:18} {kept.hold:4} of {kept.figures}")
    print(f"{'all':18} {sum(holds for _, holds in results):4} of {len(results)}")
    if given.write:
        write(given.machine, results)


if __name__ == "__main__":
    main()
