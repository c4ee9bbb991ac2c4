"""With two threads, what may happen while its thread is in the background counts on duplicated counters alone."""

import itertools

import pytest
from example_counts import examples
from grids import each
from hypothesis import given
from hypothesis import strategies as st
from pmu_assignments import legal

from pfmon import pmu
from pfmon.errors import RuleError
from pfmon.pmu.model.describe import event_info
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.request import EventRequest

MONTECITO = pmu.get("montecito")
OF_ONE_THREAD = {
    event.name for event in MONTECITO.events if event.type == "active" or event.name.startswith("CPU_OP_CYCLES")
}
CHOSEN = [
    event
    for name in ("L3_MISSES", "L3_REFERENCES", "BUS_ALL_SELF", "CPU_OP_CYCLES_ALL", "CPU_OP_CYCLES_HALTED")
    for event in [MONTECITO.events[name]]
] + [event for event in MONTECITO.events if event.name in ("NOPS_RETIRED", "LOADS_RETIRED", "L2D_MISSES")]


def right(event: Event, counter: int) -> bool:
    """The sentences of sections 3.3.2 and 4.2.1."""
    return counter <= 9 or event.name in OF_ONE_THREAD


@examples(60)
@given(st.lists(st.sampled_from(CHOSEN), min_size=1, max_size=4), st.integers(1, 6))
def test_an_assignment_is_right_and_found_whenever_there_is_one(events: list[Event], free: int) -> None:
    wanted = [EventRequest(event.name, mesi="MESI" if event.mesi else "") for event in events]
    counters = [*range(10 - free, 10), 10, 11, 12]
    possible = any(
        legal("montecito", events, tried) and all(map(right, events, tried))
        for tried in itertools.permutations(counters, len(events))
    )
    taken = set(range(4, 16)) - set(counters)
    try:
        made = MONTECITO.program(wanted, unavailable=taken, two_threads=True)
    except RuleError:
        assert not possible
    else:
        assert legal("montecito", events, made.counters) and all(map(right, events, made.counters))


def test_the_rule_is_said_only_where_it_is_the_reason() -> None:
    seven = ["L3_MISSES"] * 6 + ["L3_REFERENCES"]
    assert MONTECITO.program(seven).counters == tuple(range(4, 11))
    with pytest.raises(RuleError, match=r"L3_REFERENCES \(floating\).*--no-smt-rules") as caught:
        MONTECITO.program(seven, two_threads=True)
    assert caught.value.section == "Montecito manual section 4.2.1"
    with pytest.raises(RuleError) as caught:
        MONTECITO.program(["L3_MISSES"] * 13, two_threads=True)
    assert caught.value.rule == "events_need_free_counters"


def test_active_events_make_room_for_the_others() -> None:
    events = ["NOPS_RETIRED"] * 6 + ["L3_MISSES"] * 6
    assert MONTECITO.program(events, two_threads=True).counters == (*range(10, 16), *range(4, 10))


@each(
    ("event", "said"),
    [
        ("L3_MISSES", "Type   : floating, all threads; with two threads on PMD 4-9 alone"),
        ("CPU_OP_CYCLES_ALL", "Type   : causal\n"),
        ("THREAD_SWITCH_EVENTS_ALL", "Type   : active\n"),
        ("BUS_ALL_SELF", "Type   : self-floating, all threads\n"),
        ("BUS_ALL_ANY", "Type   : self-floating\n"),
        ("L2D_REFERENCES_ALL", "Type   : floating, all threads"),
    ],
)
def test_information_says_the_type_of_an_event(event: str, said: str) -> None:
    assert said in event_info(MONTECITO, event)
