"""Programming Itanium 2: four counters of 47 bits, event sets through PMC4 and PMC5."""

from collections.abc import Iterator, Sequence

from pfmon.errors import RuleError
from pfmon.pmu.assignment import Choice, anchors, assign
from pfmon.pmu.event import Event
from pfmon.pmu.ia64 import Programmer
from pfmon.pmu.programming import Monitor

EVENTS = "Itanium 2 manual, event sets"
CANCELS = (0xA0, 0xA8, 0xAC)


class Itanium2Programmer(Programmer):
    """Itanium 2 manual, chapter on performance monitoring."""

    pmu = "itanium2"
    counters = (4, 5, 6, 7)
    counter_source = EVENTS

    def group_rules(self) -> None:
        """One set of each group at a time."""
        one_set_at_a_time(self.events, "L1D")
        one_set_at_a_time(self.events, "L2")
        one_l2_ozq_cancels_event_at_a_time(self.events)

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """A matching with an L1 event on PMD5 and an L2 event on PMD4, if there are such events."""
        return assign(allowed, self.choices(allowed))

    def choices(self, allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """Which L1 event selects its set through PMC5, and which L2 event through PMC4."""
        for first in l1_events_need_pmc5(self.events, allowed):
            for second in l2_events_need_pmc4(self.events, allowed):
                yield first | second

    def cleared(self, monitor: Monitor) -> int:
        """PMC4.enable is not part of an event's configuration: PAL sets it once."""
        return self.registers["pmc4"].field("enable").mask if monitor.pmc == 4 else 0


def l1_events_need_pmc5(events: Sequence[Event], allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
    """To count L1 cache events one of them must be on PMC5, which selects the set.

    Itanium 2 manual, L1 data cache events; the same text in the Montecito manual section 4.8.2.
    """
    yield from anchored(events, allowed, "L1D", 5)


def l2_events_need_pmc4(events: Sequence[Event], allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
    """To count L2 cache events one of them must be on PMC4, which selects the set.

    Itanium 2 manual, L2 unified cache events.
    """
    yield from anchored(events, allowed, "L2", 4)


def anchored(
    events: Sequence[Event], allowed: Sequence[Sequence[int]], group: str, counter: int
) -> Iterator[Choice]:
    """The choices that put one event of the group on the counter; one empty choice without such events."""
    members = [number for number, event in enumerate(events) if event.group == group]
    if not members:
        yield {}
    for number in anchors(members, lambda n: tuple(allowed[n])):
        if counter in allowed[number]:
            yield {number: (counter,)}


def one_set_at_a_time(events: Sequence[Event], group: str) -> None:
    """Events of different sets of a group cannot be counted together.

    Itanium 2 manual, L1 data cache and L2 unified cache events; Montecito manual section 4.8.2.
    """
    sets = sorted({event.set for event in events if event.group == group})
    if len(sets) > 1:
        names = ", ".join(f"{event.name} ({event.set})" for event in events if event.group == group)
        raise RuleError("one_set_at_a_time", f"events of {group} sets cannot be mixed: {names}", EVENTS)


def one_l2_ozq_cancels_event_at_a_time(events: Sequence[Event]) -> None:
    """The L2_OZQ_CANCELS events share their unit mask: one at a time (Itanium 2 manual, L2 cache set 0)."""
    cancels = [event.name for event in events if event.group == "L2" and event.code in CANCELS]
    if len(cancels) > 1:
        raise RuleError(
            "one_l2_ozq_cancels_event_at_a_time", f"cannot be counted together: {', '.join(cancels)}", EVENTS
        )
