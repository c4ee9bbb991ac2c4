"""Counter assignment: legal by a checker written from the manuals, complete against brute force."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import AssignmentError, PfmonError, RuleError
from pfmon.pmu.event import Event
from pfmon.pmu.request import EventRequest


def legal(name: str, events: list[Event], counters: tuple[int, ...]) -> bool:
    """Whether events may count on these counters: the manuals' sentences, one by one."""
    if len(set(counters)) != len(counters):
        return False
    at = dict(zip(counters, events, strict=True))
    if any(counter not in event.counters for counter, event in at.items()):
        return False
    if name == "itanium":
        return True
    return _legal_l1(at) and (_legal_l2(at) if name == "itanium2" else _legal_l2d(at))


def _legal_l1(at: dict[int, Event]) -> bool:
    """One L1D set, selected by the event on PMC5 (section 4.8.2)."""
    sets = {event.set for event in at.values() if event.group == "L1D"}
    return not sets or (len(sets) == 1 and 5 in at and at[5].set in sets)


def _legal_l2(at: dict[int, Event]) -> bool:
    """Itanium 2: one L2 set, selected by PMC4, whose unit mask holds in sets 0, 3 and 4."""
    members = [event for event in at.values() if event.group == "L2"]
    if not members:
        return True
    if len({event.set for event in members}) > 1 or at.get(4) not in members:
        return False
    if sum(event.code in (0xA0, 0xA8, 0xAC) for event in members) > 1:
        return False
    shared = members[0].set in ("L2:0", "L2:3", "L2:4")
    return not shared or all(event.umask in (0, at[4].umask) for event in members)


def _legal_l2d(at: dict[int, Event]) -> bool:
    """Montecito: L2D events on 4, 5, 8 of PMC4's set and unit mask, or on 6, 7, 9 of PMC6's set."""
    table = pmu.get("montecito").events
    if sum(event.code in (0xE0, 0xE2) for event in at.values()) > 1:
        return False
    for counter, event in at.items():
        if event.group != "L2D":
            continue
        head = 4 if counter in (4, 5, 8) else 6 if counter in (6, 7, 9) else None
        if head is None or head not in at or at[head].set != event.set:
            return False
        variants = [e for e in table if (e.code, e.set) == (event.code, event.set)]
        if head == 4 and at[4].umask != event.umask and len(variants) > 1:
            return False
    return True


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


@settings(max_examples=300, deadline=None)
@given(event_sets(largest=7))
def test_every_assignment_is_legal(chosen: tuple[str, list[Event]]) -> None:
    name, events = chosen
    try:
        made = pmu.get(name).program(requests(events))
    except PfmonError:
        return
    assert legal(name, events, made.counters)


@settings(max_examples=150, deadline=None)
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


@settings(max_examples=100, deadline=None)
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
