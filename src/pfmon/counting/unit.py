"""The counting unit of one PMU: what its registers say is counted, by whoever wrote them.

Monitors are decoded from register contents and from nothing else. What a run added to each of them comes from a tally
of the stream (what architecture decides) and from a machine's records (what the machine decides, and thresholds).
"""

from __future__ import annotations

from pfmon.counting.countable import DEBUG_MATCHES, check_monitor, counts_machine, has_kernel_time, limit
from pfmon.counting.data_tally import DataTally
from pfmon.counting.increments import Increments
from pfmon.counting.sink import Sink
from pfmon.counting.tally import Tally
from pfmon.counting.totals import add_totals
from pfmon.counting.weighed import Filter, Weighed
from pfmon.light_typing import NamedTuple
from pfmon.pmu.capture_setting import capture_setting
from pfmon.pmu.filters import EVERY_BUNDLE, EVERY_OPCODE
from pfmon.pmu.monitors import monitors
from pfmon.pmu.qualify import Qualifier
from pfmon.signals import machine as machine_signals

TYPE_CHECKING = False
if TYPE_CHECKING:  # exact events alone need no machine
    from collections.abc import Sequence

    from pfmon.counting.captures import Captures
    from pfmon.counting.cycle_conditions import CycleConditions
    from pfmon.counting.looks import Look
    from pfmon.machine.interval.interval_machine import IntervalMachine
    from pfmon.machine.machine import Machine
    from pfmon.machine.machine_figures import MachineFigures
    from pfmon.pmu.event import Event
    from pfmon.pmu.file import RegisterFile
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.programming import Monitor
    from pfmon.stream.table import BlockTable


class MachineRecords(NamedTuple):
    """A machine with its figures; ``event_sets``: which of what it recorded is meant, None: all."""

    machine: Machine | IntervalMachine
    figures: MachineFigures
    event_sets: Sequence[int] | None = None


def stack_rate(figures: MachineFigures) -> int:
    """Registers that the register stack engine moves in a cycle; machines without one move none."""
    return int(figures.get("rse.rate", 1))


class CountingUnit:
    """Counts as the registers of a PMU say; PfmonError when one of its counters cannot count what it is set to."""

    def __init__(self, model: PmuModel, registers: RegisterFile, guests: Sequence[Monitor] = ()) -> None:
        """``guests``: monitors that are evaluated like those of the registers, and behind them."""
        self.owner = 0
        """Its number among the PMUs of a run: what each captures is told apart by it."""
        self.monitors: tuple[Monitor, ...] = tuple(
            monitor
            for monitor in monitors(model, registers)
            if registers.may_count(monitor.pmd)
            or (registers.enabled_in_kernel(monitor.pmd) and has_kernel_time(monitor))
        )
        self._model = model
        self._qualifier = Qualifier(model, registers.contents())
        self.data_ranges = self._qualifier.data_ranges()
        self._compiled: list[tuple[Increments, list[Event]]] = []
        self._captures: list[Captures] = []
        self.capturing = capture_setting(model, registers.contents())
        self._events = model.events
        if model.architecture == "ia64" and registers.field("psr", "is"):
            self._take_ia32()
        self.everyone = (*self.monitors, *guests)
        for monitor in self.everyone:
            check_monitor(model, monitor)
        self._looks: list[Look] | None = None
        self._exact: Increments | None = None
        self._looking: Increments | None = None

    def _take_ia32(self) -> None:
        """The program's code is IA-32."""
        from pfmon.counting.ia32 import captures_in_ia32, in_ia32

        data, fetch, _ = map(self._is_constrained, self._captured_events())
        self.capturing = captures_in_ia32(self.capturing, data, fetch)
        found = [in_ia32(monitor, self._is_constrained(monitor.event)) for monitor in self.monitors]
        self.monitors = tuple(monitor for monitor in found if monitor)
        self.data_ranges = None

    def _is_constrained(self, event: Event) -> bool:
        """Whether ranges or opcodes qualify an event."""
        filtered = self._filter(event)
        return self._ranged(event) or filtered.code != EVERY_BUNDLE or filtered.opcode != EVERY_OPCODE

    @property
    def wants_machine(self) -> bool:
        """Whether a machine has to run."""
        return self.capturing.captures or self._counts_machine

    @property
    def _counts_machine(self) -> bool:
        """Whether a monitor counts what a machine decides."""
        return any(counts_machine(monitor) for monitor in self.monitors)

    @property
    def counts_levels(self) -> bool:
        """Whether a monitor counts what stands in queues and registers."""
        return any(self._is_level(monitor) for monitor in self.monitors)

    @staticmethod
    def _is_level(monitor: Monitor) -> bool:
        meaning = machine_signals.meanings().get(monitor.signal)
        return meaning is not None and meaning.kind == "level"

    @staticmethod
    def _is_clock(monitor: Monitor) -> bool:
        """Whether a monitor counts cycles of another clock than the core's."""
        meaning = machine_signals.meanings().get(monitor.signal)
        return meaning is not None and meaning.kind == "cycle" and "CLOCK" in machine_signals.named(monitor.signal)

    @property
    def wants_tally(self) -> bool:
        """Whether totals of the stream are needed."""
        return not all(counts_machine(monitor) for monitor in self.monitors)

    @property
    def wants_addresses(self) -> bool:
        """Whether the stream has to have the addresses of memory accesses in it."""
        return self.wants_machine or self.data_ranges is not None

    def tally(self, table: BlockTable, traced: bool = False) -> Tally:
        """The reader of the stream that `count` wants; ``traced``: there are addresses in it in any case."""
        return Tally(table, traced) if self.data_ranges is None else DataTally(table, self.data_ranges)

    def count(
        self, table: BlockTable, tally: Tally | None, records: MachineRecords | None = None, by_place: bool = False
    ) -> Sink:
        """What the monitors, in their order, counted in all that a tally has seen and a machine has recorded."""
        sink = Sink(len(self.monitors), table, by_place)
        if tally is not None and self.wants_tally:
            if self.data_ranges is not None and not isinstance(tally, DataTally):
                raise TypeError("data ranges are programmed: the stream's addresses are wanted")
            add_totals(tally, self.increments(), sink)
        if self._counts_machine:
            if records is None:
                raise RuntimeError("a machine has to run for these events")
            self._add_machine(table, records, sink)
        return sink

    def increments(self) -> Increments:
        """What architecture decides, compiled; monitors of other signals add nothing."""
        if self._exact is None:
            signals = ["" if counts_machine(monitor) else monitor.signal for monitor in self.everyone]
            events = [monitor.event for monitor in self.everyone]
            self._exact = self._compile(signals, events, [self._ranged(event) for event in events])
        return self._exact

    def _compile(self, signals: Sequence[str], events: list[Event], ranged: Sequence[bool]) -> Increments:
        """Increments behind the events' filters, which `requalify` may change."""
        filters = [self._filter(event) for event in events]
        made = Increments([Weighed(*one) for one in zip(signals, filters, ranged, strict=True)])
        self._compiled.append((made, events))
        return made

    def requalify(self, registers: RegisterFile) -> None:
        """Take ranges from registers that were written since, while everything else is as before. What was counted is
        not looked at again: it is for ranges that nothing could be in before."""
        self._qualifier = Qualifier(self._model, registers.contents())
        if self.data_ranges is not None:
            self.data_ranges = self._qualifier.data_ranges()
        for increments, events in self._compiled:
            increments.filter([self._filter(event) for event in events])
        for captures in self._captures:
            captures.set_ranges(self.data_ranges or ())

    def captures(self, table: BlockTable, seed: int = 1) -> Captures | None:
        """The event address registers and the trace buffer at work; None: they capture nothing. ``seed``: of the choice
        among loads that overlap."""
        if not self.capturing.captures:
            return None
        from pfmon.counting.captures import Captures

        # Tags qualify what is captured as they qualify the events that count it (Montecito manual, figure 3-5).
        filters = self._compile([""] * 3, self._captured_events(), [False] * 3)
        # Itanium's register heeds the data ranges (PMC11.pt), as its event of captures in general does.
        heeded = any(self._ranged(event) for event in self._events if self._events.ear_kind(event.code) == "dear")
        ranges = self.data_ranges or ()
        made = Captures(table, self.capturing, filters, ranges, heeded, seed, self.owner)
        self._captures.append(made)
        return made

    def _captured_events(self) -> list[Event]:
        """Events that count what the data EAR, the instruction EAR and the trace buffer capture."""
        data = next(event for event in self._events if event.ear.startswith("dear"))
        fetch = next(event for event in self._events if event.ear.startswith("iear"))
        return [data, fetch, next(event for event in self._events if event.branch_buffer)]

    def conditions(self, table: BlockTable) -> CycleConditions | None:
        """The counters that look at cycles one by one; None: none do."""
        if not any(monitor.conditional for monitor in self.monitors):
            return None
        from pfmon.counting.conditions import condition_of
        from pfmon.counting.cycle_conditions import CycleConditions

        found = [condition_of(monitor) for monitor in self.monitors]
        signals = [
            monitor.signal if one and not one.occurrences and not one.every_cycle else ""
            for monitor, one in zip(self.monitors, found, strict=True)
        ]
        increments = self._compile(signals, [monitor.event for monitor in self.monitors], [False] * len(signals))
        return CycleConditions(found, increments, table, self.owner)

    @property
    def is_told(self) -> bool:
        """Whether what it counts is recorded under its number."""
        return self.capturing.captures or any(monitor.conditional for monitor in self.monitors)

    def looks(self) -> list[Look]:
        """How the monitors look at a machine's records."""
        from pfmon.counting.looks import NOTHING_MATCHES, condition_look, look_of

        if self._looks is None:
            self._looks = [
                condition_look(self.owner, number)
                if monitor.conditional
                else NOTHING_MATCHES
                if monitor.signal == DEBUG_MATCHES and self.data_ranges is None
                else look_of(
                    monitor.signal,
                    monitor.threshold,
                    self._ranged(monitor.event),
                    monitor.mesi if monitor.event.mesi else None,
                    self.owner,
                    monitor.plm,
                    monitor.event.max_increment if monitor.threshold else limit(monitor.event),
                )
                for number, monitor in enumerate(self.everyone)
            ]
        return self._looks

    def look_increments(self) -> Increments:
        """The weights and filters behind the monitors' looks."""
        if self._looking is None:
            looks = self.looks()
            events = [monitor.event for monitor in self.everyone]
            self._looking = self._compile([look.signal for look in looks], events, [look.ranged for look in looks])
        return self._looking

    def _add_machine(self, table: BlockTable, records: MachineRecords, sink: Sink) -> None:
        from pfmon.counting.machine_totals import MachineTotals

        rate = stack_rate(records.figures)
        MachineTotals(records.machine, self.looks(), self.look_increments(), table, rate).add(sink, records.event_sets)
        for number, monitor in enumerate(self.monitors):
            if counts_machine(monitor):
                sink.add_elsewhere(number, self.stood(monitor, records))

    def stands(self, monitor: Monitor) -> bool:
        """Whether a monitor counts levels or clocks, which belong to no instruction (`stood`)."""
        return self._is_level(monitor) or self._is_clock(monitor)

    def stood(self, monitor: Monitor, records: MachineRecords) -> int:
        """What levels and the bus's or reference clock added in all, of no instruction; 0 for others."""
        from pfmon.counting.machine_totals import level_total

        if self._is_level(monitor):
            levels = records.machine.levels(records.event_sets)
            terms = machine_signals.meanings()[monitor.signal].terms
            return sum(level_total(levels, term, monitor.threshold) for term in terms)
        return records.machine.time(records.event_sets)[1] if self._is_clock(monitor) else 0

    def _ranged(self, event: Event) -> bool:
        return event.dar and self.data_ranges is not None

    def _filter(self, event: Event) -> Filter:
        """What an event does not support does not constrain it (pfmon on Itanium 2, section 4.5)."""
        channel = self._qualifier.channel(event)
        return Filter(
            self._qualifier.code_filter(channel) if event.iar else EVERY_BUNDLE,
            self._qualifier.opcode_filter(channel) if event.opc else EVERY_OPCODE,
        )
