"""Timelines of an in-order core: the run is the same with them, and each cycle is a record, with the memo and
without."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from grids import diagonal, first_quick
from machine_runs import PROGRAMS, machine_and_guest, run_machine

from pfmon.machine._machine import IssueTimeline, Machine
from pfmon.stream._stream import Pipe

if TYPE_CHECKING:
    from pfmon.machine.captured_timelines import CapturedIssues, IssueRun

MACHINES = ["itanium2", "montecito", "itanium"]


def kept(program: str, machine: str, memo: bool = True, **wanted: Any) -> "tuple[Machine, list[CapturedIssues]]":
    """A machine that has seen a whole program, and the timelines that it kept."""
    found, guest = machine_and_guest(program, machine, memo=memo)
    timeline = IssueTimeline(guest.table, found.records, **wanted)
    found.set_observer(timeline)
    with Pipe(found, threaded=False) as pipe:
        guest.run(pipe)
    found.finish()
    captured = timeline.captured()
    guest.close()
    return found, captured


def cycles_of(run: "IssueRun") -> int:
    """Cycles of the records of an execution of a block."""
    return sum(1 if stall is None else stall[3] for _, stall in run[3])


@diagonal
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("program", first_quick(sorted(PROGRAMS)))
def test_a_run_is_the_same_with_timelines(program: str, machine: str) -> None:
    alone, (with_timelines, found) = run_machine(program, machine), kept(program, machine)
    assert found
    assert with_timelines.cycles == alone.cycles
    assert with_timelines.occurrences() == alone.occurrences()
    assert sorted(map(str, with_timelines.bubbles())) == sorted(map(str, alone.bubbles()))
    assert dict(with_timelines.groups()) == dict(alone.groups())


@diagonal
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("program", first_quick(["sort", "hashmap", "epic", "strings", "lz", "nbody"]))
def test_each_cycle_of_an_execution_is_a_record(program: str, machine: str) -> None:
    _, found = kept(program, machine)
    seen = 0
    for _, _, cycles, _, _, runs in found:
        assert all(earlier[2] == later[1] for earlier, later in pairwise(runs))
        for run in runs:
            assert cycles_of(run) == run[2] - run[1]
            seen += cycles_of(run)
        assert cycles >= 0
    assert seen > 500


@diagonal
@pytest.mark.parametrize("machine", first_quick(MACHINES, single=True))
@pytest.mark.parametrize("program", first_quick(["sort", "hashmap", "epic", "fib"]))
def test_timelines_are_the_same_without_the_memo(program: str, machine: str) -> None:
    _, replayed = kept(program, machine)
    _, simulated = kept(program, machine, memo=False)
    assert [one[:5] for one in replayed] == [one[:5] for one in simulated]
    assert [one[5] for one in replayed] == [one[5] for one in simulated]


def test_a_timeline_has_so_many_iterations() -> None:
    _, found = kept("sort", "itanium2", iterations=3)
    hot = found[0]
    assert hot[4] and sum(run[0] == hot[0] for run in hot[5]) == 3


def test_blocks_outside_of_a_range_are_not_kept() -> None:
    _, found = kept("sort", "itanium2")
    machine, guest = machine_and_guest("sort", "itanium2")
    timeline = IssueTimeline(guest.table, machine.records, [(0x10, 0x20)])
    machine.set_observer(timeline)
    with Pipe(machine, threaded=False) as pipe:
        guest.run(pipe)
    machine.finish()
    assert found and timeline.captured() == []
    guest.close()
