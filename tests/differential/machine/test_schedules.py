"""Schedules of the out-of-order core: graphs give those of executed parts, and causes add up to the cycles."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from core_streams import LENGTH, MACHINES, PASSES, PROGRAMS, example, machine_of, read, run, seeds
from grids import diagonal, first_quick
from qemu_guests import ASSEMBLER
from x86_64_host import measured
from x86_64_random import random_program

from pfmon.machine._machine import IntervalMachine
from pfmon.stream._stream import BlockTable, Recorder, Tee

pytestmark = ASSEMBLER


def both(name: str, table: BlockTable, *changes: str) -> list[IntervalMachine]:
    """A machine that runs parts by their graphs, and one that executes each."""
    return [machine_of(name, table, graphs, *changes) for graphs in (True, False)]


def compare(machines: Sequence[IntervalMachine]) -> None:
    """All that was recorded is the same: cycles, time, occurrences; and many parts had a graph."""
    for one in machines:
        one.finish()
        assert not one.failure
        assert one.core is not None and one.core.from_graphs > 100
    by_graphs, executed = ((one.cycles, one.time(), one.occurrences()) for one in machines)
    assert by_graphs == executed
    assert by_graphs[0] > 1000


def replay(words: Recorder, machines: Sequence[IntervalMachine]) -> None:
    for one in machines:
        words.replay(one)
    compare(machines)


@diagonal
@pytest.mark.parametrize("machine", first_quick(MACHINES))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_schedules_from_graphs_are_those_of_executed_parts(name: str, machine: str) -> None:
    table, words = read(example(name))
    replay(words, both(machine, table))


@measured
@pytest.mark.parametrize("seed", seeds(0, 1, 50))
def test_schedules_of_random_code_are_those_of_executed_parts(seed: int, tmp_path: Path) -> None:
    """Stores that are forwarded or not, accesses in two lines, divisions, flags, strings, branches and calls."""
    table, words = read([random_program(seed, LENGTH, tmp_path, passes=PASSES)])
    for machine in MACHINES:
        replay(words, both(machine, table))


SMALLER = (
    *("core.window=16", "core.scheduler=8", "core.loads=4", "core.stores=4", "core.fills=1", "core.walkers=1"),
    *("l1d.size=1K", "l1d.ways=2", "l1i.size=1K", "l1i.ways=2", "l2.size=4K", "dtlb1.entries=4", "itlb1.entries=8"),
)


@measured
@pytest.mark.parametrize("seed", seeds(100, 1, 20))
def test_schedules_of_random_code_with_few_resources(seed: int, tmp_path: Path) -> None:
    """Buffers that are full most of the time, and caches that miss."""
    table, words = read([random_program(seed, LENGTH, tmp_path, passes=PASSES)])
    replay(words, both("skylake", table, *SMALLER))


TEXT = "".join(f"{number * 7919 % 1000003} some words of a line\n" for number in range(2000))
CODE = "".join(f"int f{number}(int x) {{ while (x > 7) x /= 2; return x; }}\n" for number in range(20))
COMMANDS = {
    "gzip": ["gzip", "-c", "FILE"],
    "sort": ["sort", "--parallel=1", "FILE"],
    "perl": ["perl", "-e", "for ($i = 0; $i < 20000; $i++) { $s += $i * $i % 7 } print $s"],
    "python3": ["/usr/bin/python3", "-S", "-c", "print(sum(i * i % 7 for i in range(20000)))"],
    "cc1": ["cc1", "-quiet", "-O1", "FILE", "-o", "/dev/null"],
}
"""The programs of benchmarks/x86.py that are no examples, at a short size."""


def path_of(program: str) -> str | None:
    if program == "cc1":
        program = subprocess.run(
            ["cc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True
        ).stdout.strip()
    return shutil.which(program)


@measured
@pytest.mark.exhaustive
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", COMMANDS)
def test_schedules_of_large_programs_are_those_of_executed_parts(name: str, machine: str, tmp_path: Path) -> None:
    file = tmp_path / "file.i"
    file.write_text(CODE if name == "cc1" else TEXT)
    program, *words = [str(file) if word == "FILE" else word for word in COMMANDS[name]]
    found = path_of(program)
    if found is None:
        pytest.skip(f"{name} is not here")
    machines: list[IntervalMachine] = []

    def reading(table: BlockTable) -> Tee:
        machines.extend(both(machine, table))
        return Tee(*machines)

    run([found, *words], reading)
    compare(machines)


@diagonal
@pytest.mark.parametrize("graphs", [True, False])
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_cycles_are_those_of_retirement_and_of_the_causes(name: str, machine: str, graphs: bool) -> None:
    """Cycles in which instructions retired and those of each cause are the clock, which runs by itself."""
    table, words = read(example(name))
    one = machine_of(machine, table, graphs)
    words.replay(one)
    one.finish()
    stalls = sum(cycles for *_, cycles in one.bubbles())
    assert 0 < stalls < one.cycles
    assert one.records.cycles_with_issue() + stalls == one.cycles == one.time()[0]
