"""Streams of x86-64 programs, and out-of-order machines that read them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from guests import SMALL
from qemu_guests import EXAMPLES, guest

from pfmon.machine._machine import IntervalMachine
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BlockTable, Consumer, Recorder

PROGRAMS = ["hashmap", "sort", "nbody", "dispatch", "matmul", "lz", "strings", "sha256", "queens", "branchy", "fib"]
MACHINES = ["skylake", "icelake", "zen3", "zen4", "nehalem", "core2"]


def run(command: Sequence[str | Path], readers: Callable[[BlockTable], Consumer]) -> None:
    """Run a program with what reads its stream, with the addresses of its accesses."""
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest(command, files=files, addresses=True, engine="x86_64")
        ending = one.run(readers(one.table))
        one.close()
    assert ending is not None and ending.status == 0


def read(command: Sequence[str | Path]) -> tuple[BlockTable, Recorder]:
    """The stream of a program."""
    tables: list[BlockTable] = []
    reader = Recorder()

    def keep(table: BlockTable) -> Recorder:
        tables.append(table)
        return reader

    run(command, keep)
    return tables[0], reader


def example(name: str) -> list[str | Path]:
    return [EXAMPLES / "x86_64" / name, *SMALL[name]]


def machine_of(name: str, table: BlockTable, graphs: bool, *changes: str) -> IntervalMachine:
    figures = load(name, changes)
    return IntervalMachine(figures, table, 1, CoreTimings(figures, table.instruction_names or []), graphs)


LENGTH, PASSES = 200, 40
"""Instructions of a random program's loop, about, and how often it is executed."""


def seeds(first: int, slow: int, all_: int) -> list[object]:
    """Numbers of random programs: one that is always tried, some slow ones, and those of an exhaustive run."""
    return [
        first,
        *(pytest.param(first + one, marks=pytest.mark.slow) for one in range(1, slow)),
        *(pytest.param(first + one, marks=pytest.mark.exhaustive) for one in range(slow, all_)),
    ]
