"""Intel's architectural counters on x86-64 programs and the machines beneath them, Core 2 if no other is named: whole
runs, through the library."""

from collections.abc import Sequence
from typing import Any

import pytest
from grids import first_quick
from guests import SMALL
from qemu_guests import EXAMPLES, QEMU

import pfmon
from pfmon.errors import PfmonError

pytestmark = QEMU

CYCLES, INSTRUCTIONS = "UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED"
REFERENCES, MISSES, MISPREDICTED = "LLC_REFERENCES", "LLC_MISSES", "BRANCH_MISSES_RETIRED"


def counts(name: str, events: Sequence[str], **options: Any) -> list[int]:
    """What events come to in an example's small run."""
    return [count.value for count in run(name, events=list(events), **options).counts]


def run(name: str, **options: Any) -> pfmon.Run:
    command = [str(EXAMPLES / "x86_64" / name), *SMALL[name]]
    return pfmon.run(command, stdout=pfmon.DEVNULL, **{"machine": "core2", **options})


@pytest.mark.parametrize("machine", ["core2", "nehalem"])
def test_counts_repeat_to_the_last_digit(machine: str) -> None:
    events = [INSTRUCTIONS, CYCLES, MISSES]
    first = counts("lz", events, machine=machine)
    assert first == counts("lz", events, machine=machine)
    assert all(first)


@pytest.mark.slow
def test_cycles_with_fewer_and_with_more_are_all_cycles() -> None:
    (cycles,) = counts("matmul", [CYCLES])
    for least in (1, 2, 4, 5):
        more, fewer = counts("matmul", [INSTRUCTIONS] * 2, event_thresholds=[least, least], invert="n,y")
        assert more + fewer == cycles, least


@pytest.mark.parametrize(
    ("event", "most"), first_quick([(INSTRUCTIONS, 30), ("BRANCH_INSTRUCTIONS_RETIRED", 30), (REFERENCES, 30)])
)
def test_cycles_with_so_many_and_more_add_up_to_the_count(event: str, most: int) -> None:
    """Each one of a cycle is in as many thresholds as it is in its cycle."""
    (total,) = counts("lz", [event])
    least = range(1, most + 1)
    by_threshold = counts("lz", [event] * most, event_thresholds=list(least), unlimited=True)
    assert sum(by_threshold) == total and by_threshold[-1] == 0
    assert by_threshold == sorted(by_threshold, reverse=True)


@pytest.mark.slow
def test_edges_are_beginnings_of_cycles_that_count() -> None:
    level, edges = counts("lz", [INSTRUCTIONS] * 2, event_thresholds=[1, 1], edge="n,y")
    idle, ends = counts("lz", [INSTRUCTIONS] * 2, event_thresholds=[1, 1], invert="y,y", edge="n,y")
    assert 0 < edges < level and 0 < ends < idle
    assert abs(edges - ends) <= 1  # after the one comes the other
    assert counts("lz", [CYCLES], edge="y") == [1]


def test_thresholds_count_by_function_and_in_samples() -> None:
    ran = run("lz", events=[INSTRUCTIONS], event_thresholds=[4], per_function=True)
    whole = ran.counts[0].value
    assert sum(row.values[0] for row in ran.functions) == whole > 1000
    sampled = run("lz", events=[INSTRUCTIONS], event_thresholds=[4], long_smpl_periods=1000)
    assert len(sampled.samples) == whole // 1000


def test_samples_of_misses_are_taken_where_misses_are_counted() -> None:
    (misses,) = counts("lz", [REFERENCES])
    ran = run("lz", events=[REFERENCES], long_smpl_periods=1)
    assert len(ran.samples) == misses


@pytest.mark.parametrize("event", first_quick([CYCLES, REFERENCES, MISPREDICTED]))
def test_live_counts_are_those_of_the_whole_run(event: str) -> None:
    (total,) = counts("sort", [event])
    ran = run("sort", events=[event], long_smpl_periods=7)
    assert len(ran.samples) == total // 7


def test_event_sets_share_out_what_the_machine_records() -> None:
    whole = counts("lz", [CYCLES, REFERENCES])
    ran = run(
        "lz",
        events=[[CYCLES, REFERENCES], [INSTRUCTIONS, MISPREDICTED]],
        switch_timeout=1,
        true_values=True,
    )
    assert [count.estimate.true for count in ran.counts[:2] if count.estimate] == whole


def test_the_reference_clock_runs_at_its_own_frequency() -> None:
    cycles, reference = counts("matmul", [CYCLES, "UNHALTED_REFERENCE_CYCLES"], set=["machine.reference=1200 MHz"])
    assert reference == cycles // 2


def test_a_machine_of_another_instruction_set_is_refused() -> None:
    with pytest.raises(PfmonError, match="--pmu=ppc604e"):
        counts("matmul", [CYCLES], machine="ppc604e")


def test_the_breakdown_has_every_cycle() -> None:
    ran = run("lz", report="cpi")
    assert ran.cpi is not None
    assert ran.cpi.cycles == sum(ran.cpi.total(part) for part in ran.cpi.parts) == counts("lz", [CYCLES])[0]
    assert ran.cpi.instructions == counts("lz", [INSTRUCTIONS])[0]
