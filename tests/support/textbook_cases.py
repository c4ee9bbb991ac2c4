"""Textbook cases of performance: pairs of loops of which one is slower on hardware, by so much (textbook_cases.c).

A case's cycles are those of a run with twice the passes less those of a run with the passes.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pfmon

SOURCE = Path(__file__).resolve().with_suffix(".c")
MACHINES = ("skylake", "nehalem", "core2")
CYCLES = "UNHALTED_CORE_CYCLES"
OPTIONS = (
    *("-std=gnu11", "-O2", "-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns", "-ffreestanding", "-nostdlib"),
    *("-static", "-fno-pie", "-no-pie", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-falign-loops=64"),
)


class Case(NamedTuple):
    """Two loops of so many elements: ``slow`` takes from ``least`` to ``most`` times the cycles of ``fast``."""

    slow: str
    fast: str
    size: int
    machine: str
    least: float
    most: float
    source: str


COLUMNS = "by column each element is a line of L2, L3 or memory, and fill buffers hold 8 to 12; by row it is a cycle"
COPIES = "R. Bryant and D. O'Hallaron, lecture 1 of 15-213: 4.3 ms by row, 81.8 ms by column, Core i7 Haswell"
QUESTION = "Stack Overflow 11227809, Core i7 920 at 3.5 GHz: 11.777 s unsorted, 2.352 s sorted, 3,276,800,000 elements"
SORTED = "half of one of two branches are mispredicted, for 15 to 20 cycles; sorted, an element takes two or three"
STRUCTURES = "a structure is a line, of the members alone eight are in a line; these take the adder a cycle each"
BLOCKS = "M. Lam and others, The Cache Performance of Blocked Algorithms, 1991; plain, L1D misses each element of b"
LISTS = "a node of the list waits for the one before and for memory; of the array, as many are on their way as buffers"
POPCNT = "Stack Overflow 25078285, Core i7-4770K: 18.6 GB/s into four registers, 8.5 GB/s into one; so on Skylake"
PARTIAL = "Optimization Reference Manual: cvtsi2sd leaves half of its register as it was, so it waits for it"

CASES = [
    *(Case("columns", "rows", size, name, 3, 30, COLUMNS) for name in MACHINES for size in (512, 1024, 2048)),
    *(Case("copy_columns", "copy_rows", size, "skylake", 9.5, 38, COPIES) for size in (512, 2048)),
    Case("unsorted", "sorted", 32768, "nehalem", 3.5, 7, QUESTION),
    Case("unsorted", "sorted", 32768, "skylake", 2.5, 10, SORTED),
    Case("unsorted", "sorted", 32768, "core2", 2.5, 10, SORTED),
    *(Case("of_structures", "of_arrays", 1 << 19, name, 3, 16, STRUCTURES) for name in MACHINES),
    *(Case("plain", "blocked", size, name, 1.8, 15, BLOCKS) for name in MACHINES for size in (128, 512)),
    *(Case("list", "array", size, name, 8, 60, LISTS) for name in MACHINES for size in (1 << 18, 1 << 20)),
    Case("popcnt_chain", "popcnt_broken", 1000, "skylake", 2.0, 3.1, POPCNT),
    *(Case("convert_chain", "convert_broken", 1000, name, 2.5, 10, PARTIAL) for name in MACHINES),
]


class Bound(NamedTuple):
    """A loop of so many elements takes from ``least`` to ``most`` cycles an element."""

    name: str
    size: int
    machine: str
    least: float
    most: float
    source: str


LATENCY = "7-cpu.com, Core i7-6700: 42 cycles and 51 ns; L3 has an eighth, and there are page walks"
WINDOW = "uops.info: SQRTSD 13 to 19, DIVSD 13 to 15; the divider is busy for 4 to 6 and 4; five pairs in the window"
NEHALEM = "A. Fog, Instruction tables, Nehalem: SQRTSD up to 32, DIVSD up to 22, not pipelined; besides 30 a pair"
MEROM = "A. Fog, Instruction tables, Merom: SQRTSD up to 58, DIVSD up to 32, not pipelined; besides 30 a pair"

BOUNDS = [
    Bound("unsorted", 32768, "nehalem", 0.8 * 12.6, 1.2 * 12.6, QUESTION),
    Bound("sorted", 32768, "nehalem", 0.7 * 2.5, 1.3 * 2.5, QUESTION),
    Bound("list", 1 << 20, "skylake", 180, 270, LATENCY),
    Bound("popcnt_chain", 1000, "skylake", 11.7, 12.5, "uops.info, POPCNT: four times 3 cycles"),
    Bound("popcnt_broken", 1000, "skylake", 3.9, 5, "uops.info, POPCNT: port 1 takes one in a cycle"),
    Bound("nbody", 100, "skylake", 80, 320, WINDOW),
    Bound("nbody", 100, "nehalem", 540, 860, NEHALEM),
    Bound("nbody", 100, "core2", 880, 1220, MEROM),
]


@cache
def program() -> Path:
    """The program of all cases, which is built once."""
    directory = TemporaryDirectory()  # removed when Python ends
    built = Path(directory.name) / "textbook"
    subprocess.run(["cc", *OPTIONS, "-o", built, SOURCE], check=True)
    _kept.append(directory)
    return built


_kept: list[TemporaryDirectory[str]] = []


def measure(name: str, size: int, machine: str) -> int:
    """Cycles of one pass."""
    once, twice = (
        pfmon.run(
            [str(program()), name, str(size), passes],
            events=[CYCLES],
            machine=machine,
            mask_cpuid=True,
            stdout=pfmon.DEVNULL,
        )
        for passes in ("1", "2")
    )
    assert once.status == twice.status == 0
    return int(twice.counts[0].value) - int(once.counts[0].value)


def ratio(case: Case) -> float:
    """How many times the fast loop's cycles the slow one takes."""
    return measure(case.slow, case.size, case.machine) / measure(case.fast, case.size, case.machine)
