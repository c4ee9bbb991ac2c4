"""Schedules of the out-of-order core: graphs give those of executed parts, and causes add up to the cycles."""

from pathlib import Path

import pytest
from grids import first_quick
from guests import SMALL
from qemu_guests import ASSEMBLER, EXAMPLES, guest

from pfmon.machine._machine import IntervalMachine
from pfmon.machine.config.core_timings import CoreTimings
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import BlockTable, Recorder

pytestmark = ASSEMBLER

PROGRAMS = ["hashmap", "sort", "nbody", "dispatch", "matmul", "lz", "strings", "sha256", "queens", "branchy", "fib"]
MACHINES = ["skylake", "nehalem", "core2"]


def read(name: str) -> tuple[BlockTable, Recorder]:
    """The stream of an example, with the addresses of its accesses."""
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest([EXAMPLES / "x86_64" / name, *SMALL[name]], files=files, addresses=True, engine="x86_64")
        reader = Recorder()
        one.run(reader)
        one.close()
    return one.table, reader


def machine_of(name: str, table: BlockTable, graphs: bool) -> IntervalMachine:
    figures = load(name)
    return IntervalMachine(figures, table, 1, CoreTimings(figures, table.instruction_names or []), graphs)


@pytest.mark.parametrize("machine", first_quick(MACHINES))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_schedules_from_graphs_are_those_of_executed_parts(name: str, machine: str) -> None:
    table, words = read(name)
    found = []
    for graphs in (True, False):
        one = machine_of(machine, table, graphs)
        words.replay(one)
        one.finish()
        assert not one.failure
        assert one.core is not None
        found.append((one.cycles, one.time(), one.occurrences(), one.core.from_graphs))
    assert found[0] == found[1]
    assert found[0][0] > 1000
    assert found[0][3] > 100


@pytest.mark.parametrize("graphs", [True, False])
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("name", first_quick(PROGRAMS))
def test_cycles_are_those_of_retirement_and_of_the_causes(name: str, machine: str, graphs: bool) -> None:
    """Cycles in which instructions retired and those of each cause are the clock, which runs by itself."""
    table, words = read(name)
    one = machine_of(machine, table, graphs)
    words.replay(one)
    one.finish()
    stalls = sum(cycles for *_, cycles in one.bubbles())
    assert 0 < stalls < one.cycles
    assert one.records.cycles_with_issue() + stalls == one.cycles == one.time()[0]
