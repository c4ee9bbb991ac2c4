"""Event sets of one run, each on a PMU of its own: this PMU is software, so there are as many as are needed.

Every replica has the registers and obeys the rules of the hardware; a run feeds all of them.
"""

from __future__ import annotations

from pfmon.errors import PfmonError, RuleError
from pfmon.session.captures import mixes_captures
from pfmon.session.counting import Counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.counting.captures import Captures
    from pfmon.counting.cycle_conditions import CycleConditions
    from pfmon.counting.tally import Tally
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.programming import Monitor
    from pfmon.pmu.request import RangeRequest, Request
    from pfmon.session.counting import Count, Seen, Value
    from pfmon.stream.table import BlockTable


class EventSets:
    """One or more event sets. What is common to all events of the request, ranges say, is programmed in each PMU."""

    def __init__(self, model: PmuModel, request: Request, unlimited: bool = False) -> None:
        """Program the PMUs; PfmonError when an event cannot be counted, or when without ``unlimited`` one PMU does
        not do."""
        self.model = model
        everything = list(range(len(request.events)))
        made = replicas(model, request) if unlimited else [(Counting(model, request), everything)]
        self.sets = [counting for counting, _ in made]
        self.number(0)
        places = [place for _, own in made for place in own]
        self._order = sorted(everything, key=places.__getitem__)

    @property
    def wants_addresses(self) -> bool:
        """Whether the stream has to have the addresses of memory accesses in it."""
        return any(one.unit.wants_addresses for one in self.sets)

    @property
    def wants_machine(self) -> bool:
        """Whether a machine has to run."""
        return any(one.unit.wants_machine for one in self.sets)

    @property
    def wants_tally(self) -> bool:
        """Whether totals of the stream are needed."""
        return any(one.unit.wants_tally for one in self.sets)

    @property
    def monitors(self) -> int:
        """How many there are."""
        return sum(len(one.programming.monitors) for one in self.sets)

    @property
    def monitors_in_order(self) -> list[Monitor]:
        """All of them, as `totals` has them."""
        return [monitor for one in self.sets for monitor in one.programming.monitors]

    @property
    def data_ranges(self) -> Sequence[tuple[int, int]]:
        """(address, mask) of the data ranges in force; they are common to all sets."""
        return self.sets[0].unit.data_ranges or ()

    def requalify(self, irange: RangeRequest | None, drange: RangeRequest | None) -> None:
        """Ranges have got their addresses (`Counting.requalify`). PfmonError."""
        for one in self.sets:
            one.requalify(self.model, irange, drange)

    def captures(self, table: BlockTable, seed: int) -> list[Captures]:
        """The event address registers and trace buffers at work. ``seed``: of the choice among loads that overlap."""
        return [found for one in self.sets if (found := one.unit.captures(table, seed))]

    def conditions(self, table: BlockTable) -> list[CycleConditions]:
        """The counters that look at cycles one by one."""
        return [found for one in self.sets if (found := one.unit.conditions(table))]

    def number(self, first: int) -> int:
        """Give the PMUs that are told while the machine runs numbers from ``first`` on; the next one."""
        for one in self.sets:
            one.unit.owner = first
            first += one.unit.is_told
        return first

    def tally(self, table: BlockTable, traced: bool = False) -> Tally:
        """The reader of the stream that `take` wants; ``traced``: there are addresses in it in any case."""
        return self.sets[0].unit.tally(table, traced)

    def totals(self, seen: Seen) -> list[int]:
        """What each monitor counted, through all sets."""
        return [total for one in self.sets for total in one.totals(seen)]

    def load(self, totals: Sequence[int]) -> None:
        """Let the counters have counted so much, by monitor."""
        first = 0
        for one in self.sets:
            beyond = first + len(one.programming.monitors)
            one.load(totals[first:beyond])
            first = beyond

    def take(self, seen: Seen) -> list[int]:
        """Add the totals to the counters; returns them."""
        return [total for one in self.sets for total in one.take(seen)]

    def set_secure(self, secure: bool) -> None:
        """Set whether the program may not read its counters, in every PMU."""
        for one in self.sets:
            one.counters.registers.set_secure(secure)

    def read_pmd(self, number: int, seen: Seen) -> int:
        """What a program at level 3 reads from a performance data register: of the PMU that counts in it, the value
        that what has been seen makes it have."""
        for one in self.sets:
            for monitor, total in zip(one.programming.monitors, one.totals(seen), strict=True):
                if monitor.pmd == number:
                    return one.counters.read(monitor, total)
        return self.sets[0].counters.registers.read_data(number, cpl=3)

    def counts(self) -> list[Count]:
        """The values, in the order in which the events were asked for."""
        found = [count for one in self.sets for count in one.counts()]
        return [found[number] for number in self._order]

    def values(self, counts: Sequence[int]) -> list[Value]:
        """A value for each name, as `counts` has them, from a count for each monitor."""
        values: list[Value] = []
        first = 0
        for one in self.sets:
            beyond = first + len(one.programming.monitors)
            values += one.plan.compute(counts[first:beyond])
            first = beyond
        return [values[number] for number in self._order]


def replicas(model: PmuModel, request: Request) -> list[tuple[Counting, list[int]]]:
    """As many programmed PMUs as the events need, with the places of their events in the request: each event goes to
    the first one that has a counter for it and whose rules allow it beside the others."""
    made: list[tuple[Counting, list[int]]] = []
    counters = len(model.bank.numbers)
    place = 0
    while place < len(request.events):
        together = list(range(place, min(place + counters, len(request.events))))
        if all(len(places) == counters for _, places in made) and (fits := _tried(model, request, together)):
            made.append((fits, together))  # as they would have come to be there one by one
            place += len(together)
        else:
            _add(made, model, request, place)
            place += 1
    return made


def _add(made: list[tuple[Counting, list[int]]], model: PmuModel, request: Request, place: int) -> None:
    """One more event, on the first PMU that takes it."""
    for number, (_, places) in enumerate(made):
        if len(places) < len(model.bank.numbers) and (fits := _program(model, request, [*places, place])):
            made[number] = fits, [*places, place]
            return
    made.append((Counting(model, request._replace(events=(request.events[place],))), [place]))


def _tried(model: PmuModel, request: Request, places: Sequence[int]) -> Counting | None:
    """One PMU with these events; None when there is anything wrong with them."""
    try:
        return _program(model, request, places)
    except PfmonError:
        return None


def _program(model: PmuModel, request: Request, places: Sequence[int]) -> Counting | None:
    """One PMU with these events; None when it does not take them."""
    events = tuple(request.events[place] for place in places)
    if mixes_captures(model, [model.events[event.name] for event in events if event.name in model.events]):
        return None
    try:
        return Counting(model, request._replace(events=events))
    except RuleError:
        return None
