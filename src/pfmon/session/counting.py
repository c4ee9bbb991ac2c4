"""Counting: from a stream's totals to the values of a PMU's counters."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pfmon.pmu.derived import load_derived, plan
from pfmon.pmu.model import PmuModel
from pfmon.pmu.programming import Monitor, Programming
from pfmon.pmu.qualify import Qualifier
from pfmon.pmu.request import Request
from pfmon.session.attribution import Blocks, block_totals, increments
from pfmon.session.counters import VirtualCounters
from pfmon.session.machine_counts import MachineCounts
from pfmon.session.machine_monitors import check_countable, check_monitor, machine_contributions, needs_machine
from pfmon.session.qualified import Contribution, contributions, make_tally
from pfmon.session.supported import check_supported
from pfmon.stream.shapes import ShapeTable
from pfmon.stream.tally import Tally

Value = int | float | None
"""A count, or what a formula comes to: None where it divides by zero."""


class Estimate(NamedTuple):
    """Where an estimate comes from: the number of its event set, the share of the time that this counted, what it
    counted then, and what it would have counted all the time (None: nobody asked)."""

    set: int
    share: float
    raw: Value
    true: Value


class Count(NamedTuple):
    """What one event came to: the name as the PMU has it, the PMD, the privilege levels, the value.

    A derived event has a formula instead of a PMD; its value is None where the formula divides by zero.
    ``estimate`` is there when several event sets took turns; the value is then scaled to the whole time.
    """

    name: str
    pmd: int | None
    plm: int
    value: Value
    formula: str = ""
    estimate: Estimate | None = None


class Counting:
    """One event set on one PMU: measured events, and formulas over them."""

    def __init__(self, model: PmuModel, request: Request) -> None:
        """Program the PMU; PfmonError when an event is unknown or not countable, or no assignment exists."""
        self.plan = plan(model.events, request.events)
        wanted = self.plan.request(request)
        for event in wanted.events:
            check_countable(model.events[event.name])
        check_supported(wanted)
        self.programming: Programming = model.fulfil(wanted)
        self.counters = VirtualCounters(model.register_file(), self.programming)
        self.qualifier = Qualifier(model, self.programming.writes)
        for monitor in self.programming.monitors:
            check_monitor(monitor)
        self.machine: MachineCounts | None = None
        """What the machine recorded, if one ran."""

    @property
    def wants_addresses(self) -> bool:
        """Whether the stream has to have the addresses of memory accesses in it."""
        return self.wants_machine or self.qualifier.data_blocks() is not None

    @property
    def wants_machine(self) -> bool:
        """Whether a machine has to run."""
        return any(map(needs_machine, self._running()))

    def _running(self) -> list[Monitor]:
        """The monitors that count what programs do."""
        return [self.programming.monitors[number] for number in self._enabled()]

    def _enabled(self) -> list[int]:
        """Their numbers in ``programming.monitors``."""
        monitors = self.programming.monitors
        return [n for n, monitor in enumerate(monitors) if self.counters.registers.enabled(monitor.pmd)]

    @property
    def wants_tally(self) -> bool:
        """Whether totals of the stream are needed."""
        return not all(map(needs_machine, self._running()))

    def tally(self, shapes: ShapeTable, traced: bool = False) -> Tally:
        """The reader of the stream that `take` wants; ``traced``: there are addresses in it in any case."""
        return make_tally(self.qualifier, shapes, traced)

    def contributions(self, blocks: Blocks, tally: Tally) -> Iterator[Contribution]:
        """What each instruction added to each monitor (its number in ``programming.monitors``)."""
        monitors = self.programming.monitors
        running = self._enabled()
        exact = [n for n in running if not needs_machine(monitors[n])]
        for part in contributions(self.qualifier, [monitors[n].event for n in exact], blocks, tally):
            yield part._replace(event=exact[part.event])
        decided = [n for n in running if needs_machine(monitors[n])]
        if decided and self.machine is None:
            raise RuntimeError("a machine has to run for these events")
        if decided and self.machine:
            for part in machine_contributions(self.qualifier, [monitors[n] for n in decided], blocks, self.machine):
                yield part._replace(event=decided[part.event])

    def totals(self, blocks: Blocks, tally: Tally) -> list[int]:
        """What each monitor counted in everything that the tally has seen."""
        totals = [0] * len(self.programming.monitors)
        for part in self.contributions(blocks, tally):
            totals[part.event] += part.increment
        return totals

    def take(self, blocks: Blocks, tally: Tally) -> list[int]:
        """Add the totals to the counters; returns them."""
        totals = self.totals(blocks, tally)
        for monitor, total in zip(self.programming.monitors, totals, strict=True):
            self.counters.add(monitor, total)
        return totals

    def counts(self) -> list[Count]:
        """The values, in the order in which the events were asked for."""
        monitors = self.programming.monitors
        values = self.plan.compute([self.counters.value(monitor) for monitor in monitors])
        return [
            self._count(number, monitors[self.plan.places(number)[0]], value) for number, value in enumerate(values)
        ]

    def _count(self, number: int, monitor: Monitor, value: Value) -> Count:
        """What one name came to; ``monitor`` is the first of those that its value is made from."""
        if not self.plan.is_derived(number):
            return Count(monitor.event.name, monitor.pmd, monitor.plm, value)
        name = self.plan.names[number]
        formula = load_derived(self.programming.pmu)[name].formula
        return Count(name, None, monitor.plm, value, formula)


def signal_totals(signals: Sequence[str], blocks: Blocks, tally: Tally) -> dict[str, int]:
    """The increments of each signal in everything that the tally has seen."""
    totals = dict.fromkeys(signals, 0)
    for block in block_totals(blocks, tally):
        for signal in totals:
            totals[signal] += sum(increment for _, increment in increments(signal, block))
    return totals
