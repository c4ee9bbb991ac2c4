"""Counting on one PMU: a request, programmed into registers, and the counters' values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pfmon.counting._counting import CountAccumulator, Tally
from pfmon.counting.totals.countable import check_countable, check_monitor
from pfmon.counting.totals.counting_unit import CountingUnit, MachineRecords
from pfmon.counting.totals.ia32_events import check_ia32
from pfmon.pmu.model.derived import load_derived, plan
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor, Programming
from pfmon.pmu.model.request import RangeRequest, Request
from pfmon.session.run.default_captures import with_captures
from pfmon.session.run.supported import check_supported
from pfmon.session.run.virtual_counters import VirtualCounters
from pfmon.session.sampling.sampling_period import Period
from pfmon.stream._stream import BlockTable

Value = int | float | None
"""A count, or the value of a formula: None if it divides by zero."""


class RunData(NamedTuple):
    """The data of a run to count from: the blocks, a tally of their executions, a machine's records."""

    table: BlockTable
    tally: Tally | None = None
    records: MachineRecords | None = None


class Estimate(NamedTuple):
    """The origin of an estimate: the number of its event set, the set's share of the time, its raw count, and the true
    count (None: not requested)."""

    set: int
    share: float
    raw: Value
    true: Value


class Count(NamedTuple):
    """The count of one event: the PMU's name, the PMD, the privilege levels, the value.

    A derived event has a formula instead of a PMD; its value is None if the formula divides by zero. ``estimate`` is
    set for multiplexed event sets; the value is then scaled to the whole time.
    """

    name: str
    pmd: int | None
    plm: int
    value: Value
    formula: str = ""
    estimate: Estimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return name, pmd, plm, count, formula, estimate. pmd is null for derived events, formula for measured ones;
        count is null if a formula divides by zero. estimate (set, share of the time, raw, true) is null unless event
        sets are multiplexed."""
        return {
            "name": self.name,
            "pmd": self.pmd,
            "plm": self.plm,
            "count": self.value,
            "formula": self.formula or None,
            "estimate": self.estimate._asdict() if self.estimate else None,
        }


class ThreadCounts(NamedTuple):
    """The counts of one thread. ``place``: the number of threads that the process had before it; ``totals``: of each
    monitor."""

    place: int
    retired: int
    counts: Sequence[Count]
    totals: Sequence[int]

    def to_dict(self) -> dict[str, Any]:
        """Return thread (its place), instructions, events (Count.to_dict)."""
        return {
            "thread": self.place,
            "instructions": self.retired,
            "events": [count.to_dict() for count in self.counts],
        }


class ProgrammedPmu:
    """One event set on one PMU: measured events, and formulas over them."""

    def __init__(self, model: PmuModel, request: Request) -> None:
        """Program the PMU. PfmonError: an event is unknown or not countable, or no assignment exists."""
        self._request = request
        self.plan = plan(model.events, request.events)
        wanted = self._wanted(model)
        for event in wanted.events:
            check_countable(model, model.events[event.name])
            if request.ia32_program:
                check_ia32(model, model.events[event.name])
        check_supported(model, wanted)
        self.controls = wanted.controls
        self.programming: Programming = model.fulfil(wanted)
        for monitor in self.programming.monitors:
            check_monitor(model, monitor)
        self.counters = VirtualCounters(
            model.register_file(), self.programming, request.ia32_program, request.whole_system, request.interrupts
        )
        self.unit = CountingUnit(model, self.counters.registers)
        places = {monitor.pmd: place for place, monitor in enumerate(self.unit.monitors)}
        self._places = [places.get(monitor.pmd) for monitor in self.programming.monitors]

    def _wanted(self, model: PmuModel) -> Request:
        return with_captures(model, self.plan.request(self._request))

    def requalify(self, model: PmuModel, irange: RangeRequest | None, drange: RangeRequest | None) -> None:
        """Ranges have got their addresses. PfmonError: they cannot be had beside the events."""
        self._request = self._request._replace(irange=irange, drange=drange)
        before, self.programming = self.programming, model.fulfil(self._wanted(model))
        registers = self.counters.registers
        for name, value in {**dict.fromkeys(before.writes, 0), **self.programming.writes}.items():
            if before.writes.get(name) != value:
                registers.write(name, value)
        self.unit.requalify(registers)

    def by_monitor(self, periods: Sequence[Period | None]) -> list[Period | None]:
        """A period for each event as one for each monitor, in their order; None for the monitors of formulas, which are
        no counters of their own."""
        found: list[Period | None] = [None] * len(self.programming.monitors)
        for number, period in enumerate(periods):
            if not self.plan.is_derived(number):
                found[self.plan.places(number)[0]] = period
        return found

    def instruction_set_notes(self, ia32: bool) -> list[str]:
        """Of events that count nothing because they are of another instruction set than the program's code."""
        from pfmon.counting.totals.ia32_events import instruction_set_notes

        return instruction_set_notes(self.programming.monitors, self.unit.monitors, ia32)

    def sink(self, seen: RunData, by_place: bool = False) -> CountAccumulator:
        """Return the counts of the counting unit's monitors; `ordered` sorts them in the order of the request."""
        return self.unit.count(seen.table, seen.tally, seen.records, by_place)

    def ordered(self, counts: Sequence[int]) -> list[int]:
        """Return the counts of the unit's monitors in the order of ``programming.monitors``; 0 for idle monitors."""
        return [0 if place is None else counts[place] for place in self._places]

    def totals(self, seen: RunData) -> list[int]:
        """Return the total of each programmed monitor."""
        return self.ordered(self.sink(seen).totals())

    def take(self, seen: RunData) -> list[int]:
        """Add the totals to the counters and return them."""
        totals = self.totals(seen)
        self.load(totals)
        return totals

    def load(self, totals: Sequence[int]) -> None:
        """Set the counters to these totals, by monitor."""
        for monitor, total in zip(self.programming.monitors, totals, strict=True):
            self.counters.add(monitor, total)

    def counts(self) -> list[Count]:
        """Return the counts in the order of the request."""
        return self.counts_of([self.counters.value(monitor) for monitor in self.programming.monitors])

    def counts_of(self, counted: Sequence[int]) -> list[Count]:
        """Return the counts for given totals of the monitors, in their order."""
        monitors = self.programming.monitors
        values = self.plan.compute(counted)
        return [
            self._count(number, monitors[self.plan.places(number)[0]], value) for number, value in enumerate(values)
        ]

    def _count(self, number: int, monitor: Monitor, value: Value) -> Count:
        """Return the count of one requested name; ``monitor``: the first of those that its value is computed from."""
        if not self.plan.is_derived(number):
            return Count(monitor.event.name, monitor.pmd, monitor.plm, value)
        name = self.plan.names[number]
        formula = load_derived(self.programming.pmu)[name].formula
        return Count(name, None, monitor.plm, value, formula)
