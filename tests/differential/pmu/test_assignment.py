"""Counter assignment: legal by a checker written from the manuals, complete against brute force."""

import itertools

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from pmu_assignments import legal

from pfmon import pmu
from pfmon.errors import AssignmentError, PfmonError, RuleError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.request import EventRequest


def interesting(name: str) -> list[Event]:
    """Events with restrictions, and a few without."""
    events = [event for event in pmu.get(name).events if event.alias_of == "-" and event.ear == "-"]
    tied = [e for e in events if e.group or len(e.counters) < len(pmu.get(name).bank.numbers)]
    return tied + events[:: max(1, len(events) // 10)]


@st.composite
def event_sets(draw: st.DrawFn, largest: int) -> tuple[str, list[Event]]:
    name = draw(st.sampled_from(pmu.IA64))
    chosen = draw(st.lists(st.sampled_from(interesting(name)), min_size=1, max_size=largest))
    return name, chosen


def requests(events: list[Event]) -> list[EventRequest]:
    return [EventRequest(event.name, mesi="MESI" if event.mesi else "") for event in events]


@pytest.mark.slow
@examples(300)
@given(event_sets(largest=7))
def test_every_assignment_is_legal(chosen: tuple[str, list[Event]]) -> None:
    name, events = chosen
    try:
        made = pmu.get(name).program(requests(events))
    except PfmonError:
        return
    assert legal(name, events, made.counters)


@pytest.mark.slow
@examples(150)
@given(event_sets(largest=4))
def test_an_assignment_is_found_whenever_there_is_one(chosen: tuple[str, list[Event]]) -> None:
    name, events = chosen
    numbers = pmu.get(name).bank.numbers
    possible = any(legal(name, events, tried) for tried in itertools.permutations(numbers, len(events)))
    try:
        made = pmu.get(name).program(requests(events))
    except RuleError:
        assert not possible
    else:
        assert possible and legal(name, events, made.counters)


@pytest.mark.slow
@examples(100)
@given(st.data())
def test_unavailable_counters_are_left_alone(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(pmu.IA64))
    numbers = pmu.get(name).bank.numbers
    taken = data.draw(st.sets(st.sampled_from(numbers), max_size=len(numbers) - 1))
    free = sorted(set(numbers) - taken)
    made = pmu.get(name).program(["CPU_CPL_CHANGES_ALL" if name == "montecito" else "CPU_CYCLES"], unavailable=taken)
    assert made.counters == (free[0],)


def test_too_many_events_name_the_counters_they_wanted() -> None:
    with pytest.raises(AssignmentError, match=r"3 event\(s\): .*IA64_INST_RETIRED on 4 5"):
        pmu.get("itanium").program(["IA64_INST_RETIRED"] * 3)


def test_twelve_events_count_on_montecito_and_thirteen_do_not() -> None:
    model = pmu.get("montecito")
    assert model.program(["NOPS_RETIRED"] * 12).counters == tuple(range(4, 16))
    with pytest.raises(AssignmentError):
        model.program(["NOPS_RETIRED"] * 13)


def test_halted_cycles_count_on_pmd10_only() -> None:
    made = pmu.get("montecito").program(["NOPS_RETIRED", "CPU_OP_CYCLES_HALTED"])
    assert made.counters == (4, 10)


def test_lower_counters_and_earlier_events_come_first() -> None:
    assert pmu.get("itanium2").program(["NOPS_RETIRED", "CPU_CYCLES", "LOADS_RETIRED"]).counters == (4, 6, 5)
