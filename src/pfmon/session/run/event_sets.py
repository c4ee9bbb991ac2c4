"""Event sets of one run, each on its own replica of the PMU; since the PMU is software, any number is available.

Every replica has the registers and obeys the rules of the hardware; all count the same run.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting._counting import CaptureUnits, CycleConditions, Tally
from pfmon.errors import PfmonError, RuleError
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import RangeRequest, Request
from pfmon.session.run.default_captures import mixes_captures
from pfmon.session.run.programmed_pmu import Count, ProgrammedPmu, RunData, Value
from pfmon.stream._stream import BlockTable


class EventSets:
    """One or more event sets. Settings of all events, such as ranges, are programmed in each PMU."""

    def __init__(self, model: PmuModel, request: Request, unlimited: bool = False) -> None:
        """Program the PMUs. PfmonError: an event cannot be counted, or without ``unlimited`` one PMU does not
        suffice."""
        self.model = model
        everything = list(range(len(request.events)))
        made = replicas(model, request) if unlimited else [(ProgrammedPmu(model, request), everything)]
        self.sets = [counting for counting, _ in made]
        self.number(0)
        places = [place for _, own in made for place in own]
        self._order = sorted(everything, key=places.__getitem__)

    @property
    def wants_addresses(self) -> bool:
        """Whether the stream must contain the addresses of memory accesses."""
        return any(one.unit.wants_addresses for one in self.sets)

    @property
    def wants_machine(self) -> bool:
        """Whether a machine must run."""
        return any(one.unit.wants_machine for one in self.sets)

    @property
    def wants_time(self) -> bool:
        """Whether the machine has to know when something happens."""
        return any(one.unit.wants_time for one in self.sets)

    @property
    def wants_tally(self) -> bool:
        """Whether totals of the stream are needed."""
        return any(one.unit.wants_tally for one in self.sets)

    @property
    def monitors(self) -> int:
        """The number of monitors."""
        return sum(len(one.programming.monitors) for one in self.sets)

    @property
    def monitors_in_order(self) -> list[Monitor]:
        """All monitors, in the order of `totals`."""
        return [monitor for one in self.sets for monitor in one.programming.monitors]

    @property
    def data_ranges(self) -> Sequence[tuple[int, int]]:
        """(address, mask) of the data ranges in force; they are common to all sets."""
        return self.sets[0].unit.data_ranges or ()

    def requalify(self, irange: RangeRequest | None, drange: RangeRequest | None) -> None:
        """Ranges have got their addresses (`ProgrammedPmu.requalify`). PfmonError."""
        for one in self.sets:
            one.requalify(self.model, irange, drange)

    def captures(self, table: BlockTable, seed: int) -> list[CaptureUnits]:
        """Return the active event address registers and trace buffers. ``seed``: of the choice among overlapping
        loads."""
        return [found for one in self.sets if (found := one.unit.captures(table, seed))]

    def conditions(self, table: BlockTable) -> list[CycleConditions]:
        """Return the counters with conditions on single cycles."""
        return [found for one in self.sets if (found := one.unit.conditions(table))]

    def number(self, first: int) -> int:
        """Number the PMUs that observe the running machine from ``first`` on; return the next number."""
        for one in self.sets:
            one.unit.owner = first
            first += one.unit.is_reported
        return first

    def tally(self, table: BlockTable, traced: bool = False) -> Tally:
        """Return the stream reader for `take`; ``traced``: the stream contains addresses in any case."""
        return self.sets[0].unit.tally(table, traced)

    def totals(self, seen: RunData) -> list[int]:
        """Return the total of each monitor of all sets."""
        return [total for one in self.sets for total in one.totals(seen)]

    def load(self, totals: Sequence[int]) -> None:
        """Set the counters to these totals, by monitor."""
        first = 0
        for one in self.sets:
            beyond = first + len(one.programming.monitors)
            one.load(totals[first:beyond])
            first = beyond

    def take(self, seen: RunData) -> list[int]:
        """Add the totals to the counters and return them."""
        return [total for one in self.sets for total in one.take(seen)]

    def set_secure(self, secure: bool) -> None:
        """Set PSR.sp in every PMU: whether the program may not read its counters."""
        for one in self.sets:
            one.counters.registers.set_secure(secure)

    def read_pmd(self, number: int, seen: RunData) -> int:
        """Return the value that a program at level 3 reads from a PMD, on the PMU that counts in it, after what
        ``seen`` holds."""
        for one in self.sets:
            for monitor, total in zip(one.programming.monitors, one.totals(seen), strict=True):
                if monitor.pmd == number:
                    return one.counters.read(monitor, total)
        return self.sets[0].counters.registers.read_data(number, cpl=3)

    def counts(self) -> list[Count]:
        """Return the counts in the order of the request."""
        found = [count for one in self.sets for count in one.counts()]
        return [found[number] for number in self._order]

    def values(self, counts: Sequence[int]) -> list[Value]:
        """Return a value for each name, in the order of `counts`, from a count for each monitor."""
        values: list[Value] = []
        first = 0
        for one in self.sets:
            beyond = first + len(one.programming.monitors)
            values += one.plan.compute(counts[first:beyond])
            first = beyond
        return [values[number] for number in self._order]


def replicas(model: PmuModel, request: Request) -> list[tuple[ProgrammedPmu, list[int]]]:
    """Return the programmed PMUs that the events need, with the positions of their events in the request: each event
    goes to the first PMU with a counter for it whose rules allow it beside the others."""
    made: list[tuple[ProgrammedPmu, list[int]]] = []
    counters = len(model.bank.numbers)
    place = 0
    while place < len(request.events):
        together = list(range(place, min(place + counters, len(request.events))))
        if all(len(places) == counters for _, places in made) and (fits := _tried(model, request, together)):
            made.append((fits, together))  # the same PMUs as by adding them one by one
            place += len(together)
        else:
            _add(made, model, request, place)
            place += 1
    return made


def _add(made: list[tuple[ProgrammedPmu, list[int]]], model: PmuModel, request: Request, place: int) -> None:
    """Add an event on the first PMU that accepts it."""
    for number, (_, places) in enumerate(made):
        if len(places) < len(model.bank.numbers) and (fits := _program(model, request, [*places, place])):
            made[number] = fits, [*places, place]
            return
    made.append((ProgrammedPmu(model, request._replace(events=(request.events[place],))), [place]))


def _tried(model: PmuModel, request: Request, places: Sequence[int]) -> ProgrammedPmu | None:
    """Return a PMU with these events; None: any error."""
    try:
        return _program(model, request, places)
    except PfmonError:
        return None


def _program(model: PmuModel, request: Request, places: Sequence[int]) -> ProgrammedPmu | None:
    """Return a PMU with these events; None: it cannot count them together."""
    events = tuple(request.events[place] for place in places)
    if mixes_captures(model, [model.events[event.name] for event in events if event.name in model.events]):
        return None
    try:
        return ProgrammedPmu(model, request._replace(events=events))
    except RuleError:
        return None
