"""Programming Montecito: twelve counters of 47 bits, six duplicated (4-9) and six banked (10-15)."""

from collections.abc import Iterator, Sequence

from pfmon.errors import RuleError
from pfmon.pmu.assignment import Choice, anchors, assign
from pfmon.pmu.event import Event
from pfmon.pmu.ia64 import Programmer, mesi_mask
from pfmon.pmu.itanium2 import anchored
from pfmon.pmu.programming import Monitor
from pfmon.pmu.request import EventRequest

BANKS = {4: (4, 5, 8), 6: (6, 7, 9)}


class MontecitoProgrammer(Programmer):
    """Montecito manual chapter 3."""

    pmu = "montecito"
    counters = tuple(range(4, 16))
    counter_source = "Montecito manual section 3.3.3"
    overflow_interrupt = False

    def group_rules(self) -> None:
        """One L1D set, two L2D sets, MESI masks, .all."""
        one_l1d_set_at_a_time(self.events)
        two_l2d_sets_at_a_time(self.events)
        for event, wanted in self.requested():
            mesi_mask_belongs_to_mesi_events(event, wanted.mesi)
            all_threads_needs_capable_event(event, wanted.all_threads)

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """A matching under the rules of the L1D and L2D sets."""
        return assign(allowed, self.choices(allowed))

    def choices(self, allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """Which L1D event is on PMC5, and which L2D events are on PMC4 and PMC6."""
        for second in l2d_events_need_pmc4_or_pmc6(self.events, allowed):
            for first in l1d_events_need_pmc5(self.events, allowed):
                yield first | second

    def monitor(self, event: Event, wanted: EventRequest, number: int) -> Monitor:
        """As on the other processors, with ism always 2, .all and the MESI mask."""
        return Monitor(
            event,
            number,
            number,
            self.plm(wanted.plm),
            self.request.system_wide,
            ism_is_always_two(),
            wanted.threshold,
            self.overflow_interrupt,
            wanted.all_threads,
            mesi_mask(wanted.mesi),
        )

    def configuration(self, monitor: Monitor) -> int:
        """The common fields with .all and MESI."""
        register = self.registers[f"pmc{monitor.pmc}"]
        extra = register.encode(all=int(monitor.all_threads), mesi=monitor.mesi)
        return super().configuration(monitor) | extra


def ism_is_always_two() -> int:
    """PMC.ism should be 2; other values are undefined (Montecito manual table 3-5)."""
    return 2


def one_l1d_set_at_a_time(events: Sequence[Event]) -> None:
    """Events of different L1D sets cannot be measured together (Montecito manual section 4.8.2)."""
    members = [event for event in events if event.group == "L1D"]
    if len({event.set for event in members}) > 1:
        names = ", ".join(f"{event.name} ({event.set})" for event in members)
        raise RuleError(
            "one_l1d_set_at_a_time", f"cannot be counted together: {names}", "Montecito manual section 4.8.2"
        )


def two_l2d_sets_at_a_time(events: Sequence[Event]) -> None:
    """PMC4 and PMC6 select one L2D set each: two at most (Montecito manual section 4.8.4)."""
    members = [event for event in events if event.group == "L2D"]
    if len({event.set for event in members}) > 2:
        names = ", ".join(f"{event.name} ({event.set})" for event in members)
        raise RuleError(
            "two_l2d_sets_at_a_time", f"more than two sets: {names}", "Montecito manual section 4.8.4"
        )


def l1d_events_need_pmc5(events: Sequence[Event], allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
    """To count L1D events one of them must be on PMC5, which selects the set.

    Montecito manual sections 3.3.3 and 4.8.2.
    """
    yield from anchored(events, allowed, "L1D", 5)


def l2d_events_need_pmc4_or_pmc6(
    events: Sequence[Event], allowed: Sequence[Sequence[int]]
) -> Iterator[Choice]:
    """L2D events count on PMD4, 5, 8 with one on PMC4, or on PMD6, 7, 9 with one on PMC6.

    The other counters of such a bank take set and unit mask from PMC4 or PMC6, so a bank holds events of one
    set and one unit mask (Montecito manual sections 3.3.3 and 4.8.4).
    """
    members = [number for number, event in enumerate(events) if event.group == "L2D"]
    if not members:
        yield {}
        return
    heads = list(anchors(members, lambda n: (events[n].set, events[n].umask)))
    for fourth in [*heads, None]:
        for sixth in [None, *members]:
            choice = _banked(events, allowed, members, {4: fourth, 6: sixth})
            if choice is not None:
                yield choice


def _banked(
    events: Sequence[Event], allowed: Sequence[Sequence[int]], members: list[int], head: dict[int, int | None]
) -> Choice | None:
    """The counters left to each L2D event when the heads of the two banks are given; None if impossible."""
    if (head[4] is None and head[6] is None) or head[4] == head[6]:
        return None
    choice: Choice = {}
    for number in members:
        choice[number] = [
            counter
            for first, bank in BANKS.items()
            if (top := head[first]) is not None
            and (events[top].set, events[top].umask) == (events[number].set, events[number].umask)
            for counter in bank
            if counter in allowed[number] and (counter != first or number == top)
        ]
        if not choice[number]:
            return None
    for first, top in head.items():
        if top is not None:
            if first not in choice[top]:
                return None
            choice[top] = (first,)
    return choice


def mesi_mask_belongs_to_mesi_events(event: Event, states: str) -> None:
    """MESI filtering is for the events that have it, and these need a mask.

    All occurrences are captured with all four states (Montecito manual table 3-6, field MESI).
    """
    rule, section = "mesi_mask_belongs_to_mesi_events", "Montecito manual table 3-6"
    if event.mesi and not states:
        raise RuleError(rule, f"{event.name} needs states, such as {event.name}:MESI for all", section)
    if states and not event.mesi:
        raise RuleError(rule, f"{event.name} has no filter of cache line states", section)


def all_threads_needs_capable_event(event: Event, all_threads: bool) -> None:
    """.all counts wrong for events that do not support it (Montecito manual section 4.8.4, table 4-19)."""
    if all_threads and not event.all:
        raise RuleError(
            "all_threads_needs_capable_event",
            f"{event.name} cannot be counted for all threads",
            "Montecito manual section 4.8.4",
        )
