"""The counting unit of one PMU: counts as programmed in its registers.

Monitors are decoded from register contents and from nothing else. Their counts come from a tally of the stream (where
architecture decides) and from a machine's records (where the machine decides, and for thresholds).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pfmon.counting._counting import CountAccumulator, DataRangeTally, Increments, Tally, add_totals
from pfmon.counting.totals.countable import (
    DEBUG_MATCHES,
    check_divided,
    check_monitor,
    counts_timing_model,
    has_kernel_time,
    is_clock,
    is_level,
    is_miss,
    limit,
    of_executions,
    of_instruction_table,
    of_sources,
)
from pfmon.counting.totals.system_events import check_happens_to_programs, in_system
from pfmon.errors import PfmonError
from pfmon.machine._machine import IntervalCores, IntervalMachine, Machine, MissMachine
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.capture.capture_setting import NOTHING, capture_setting, captured_privileges
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import monitors
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import PLM_KERNEL, PLM_USER
from pfmon.pmu.qualify.filters import (
    ALL_PRIVILEGES,
    EVERY_BUNDLE,
    EVERY_OPCODE,
    LEVELS,
    FilteredSignal,
    InstructionFilter,
)
from pfmon.pmu.qualify.qualifier import Qualifier
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.signals import machine_signals as machine_signals
from pfmon.stream._stream import BlockTable

if TYPE_CHECKING:
    from pfmon.counting._counting import CaptureUnits, CycleConditions
    from pfmon.counting.totals.record_query import RecordQuery
    from pfmon.counting.totals.refusals import Refusals


class MachineRecords(NamedTuple):
    """A machine with its figures; ``event_sets``: the event sets of its records, None: all."""

    machine: Machine | IntervalMachine | IntervalCores | MissMachine
    figures: MachineFigures
    event_sets: Sequence[int] | None = None

    @property
    def timed(self) -> Machine | IntervalMachine | IntervalCores:
        """The machine, which knows time."""
        assert not isinstance(self.machine, MissMachine)
        return self.machine


def stack_rate(figures: MachineFigures) -> int:
    """Registers that the register stack engine moves in a cycle; 0 for machines without one."""
    return int(figures.get("rse.rate", 1))


class CountingUnit:
    """Counts as programmed in the registers of a PMU; PfmonError when a counter does not support its setting."""

    def __init__(
        self,
        model: PmuModel,
        registers: RegisterFile,
        guests: Sequence[Monitor] = (),
        refusals: Refusals | None = None,
    ) -> None:
        """``guests``: monitors evaluated like those of the registers, and after them. ``refusals`` learns why
        counters cannot be counted, which are left out; None: they are errors."""
        self.owner = 0
        """Number among the PMUs of a run: it distinguishes their captures."""
        decoded = refusals.countable(model, registers) if refusals else monitors(model, registers)
        self.monitors: tuple[Monitor, ...] = tuple(
            monitor
            for monitor in decoded
            if registers.may_count(monitor.pmd)
            or (registers.enabled_in_kernel(monitor.pmd) and has_kernel_time(monitor))
        )
        self._model = model
        self._qualifier = Qualifier(model, registers.contents())
        self.data_ranges = self._qualifier.data_ranges()
        self._compiled: list[tuple[Increments, list[Event], Sequence[int]]] = []
        self._captures: list[CaptureUnits] = []
        self._whole_system = registers.whole_system
        self.capturing = capture_setting(model, registers.contents(), self._whole_system)
        if refusals and not refusals.machine:
            self.capturing = NOTHING
        self._captured_at = captured_privileges(model, registers)
        self._events = model.events
        if model.architecture == "ia64" and registers.field("psr", "is"):
            self._take_ia32()
        if self._whole_system:
            self.monitors, guests = tuple(map(in_system, self.monitors)), tuple(map(in_system, guests))
        self.everyone = (*self.monitors, *guests)
        self._counted_at = [registers.privileges(monitor.plm, monitor.pm) for monitor in self.everyone]
        for monitor in self.everyone:
            check_monitor(model, monitor)
            check_divided(monitor, registers)
            if self._whole_system:
                check_happens_to_programs(monitor)
        self._looks: list[RecordQuery] | None = None
        self._exact: Increments | None = None
        self._query_increments: Increments | None = None

    def _take_ia32(self) -> None:
        """Switches to IA-32 code."""
        from pfmon.counting.totals.ia32_events import captures_in_ia32, in_ia32

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
        """Whether a timing model is required."""
        return self.capturing.captures or self._counts_machine

    @property
    def _counts_machine(self) -> bool:
        """Whether a monitor's event depends on the machine."""
        return any(counts_timing_model(monitor) for monitor in self.monitors)

    @property
    def wants_time(self) -> bool:
        """Whether the machine has to know when something happens, not only what misses."""
        machine = [monitor for monitor in self.monitors if counts_timing_model(monitor)]
        return self.capturing.captures or not all(map(is_miss, machine))

    @property
    def counts_core(self) -> bool:
        """Whether a monitor's event is one of a core with a table of instructions, besides misses."""
        return any(map(of_instruction_table, self.monitors))

    @property
    def counts_executions(self) -> bool:
        """Whether a monitor's event follows from how often instructions execute on a core."""
        return any(map(of_executions, self.monitors))

    @property
    def counts_sources(self) -> bool:
        """Whether a monitor's event tells where micro-operations come from."""
        return any(map(of_sources, self.monitors))

    def check_machine(self, figures: MachineFigures) -> None:
        """PfmonError for an event that a machine does not count."""
        wanted = next((monitor for monitor in self.monitors if of_instruction_table(monitor)), None)
        if wanted and figures.get("core.instructions", "none") == "none":
            reason = f"{figures['machine.name']} has no table of instructions; --machine skylake has one"
            raise PfmonError(f"{wanted.event.name} cannot be counted: {reason}")

    @property
    def counts_levels(self) -> bool:
        """Whether a monitor counts occupancies of queues and registers."""
        return any(is_level(monitor) for monitor in self.monitors)

    @property
    def wants_tally(self) -> bool:
        """Whether totals of the stream are needed."""
        return not all(counts_timing_model(monitor) for monitor in self.monitors)

    @property
    def wants_addresses(self) -> bool:
        """Whether the stream must have the addresses of memory accesses."""
        return self.wants_machine or self.data_ranges is not None

    def tally(self, table: BlockTable, traced: bool = False) -> Tally:
        """Returns the reader of the stream for `count`; ``traced``: the stream has addresses in any case."""
        return Tally(table, traced) if self.data_ranges is None else DataRangeTally(table, self.data_ranges)

    def count(
        self, table: BlockTable, tally: Tally | None, records: MachineRecords | None = None, by_place: bool = False
    ) -> CountAccumulator:
        """Counts of the monitors, in their order, over everything in a tally and in a machine's records."""
        sink = CountAccumulator(len(self.monitors), table, by_place)
        if tally is not None and self.wants_tally:
            if self.data_ranges is not None and not isinstance(tally, DataRangeTally):
                raise TypeError("data ranges are programmed: the stream's addresses are wanted")
            add_totals(tally, self.increments(), sink)
        if self._counts_machine:
            if records is None:
                raise RuntimeError("a machine has to run for these events")
            self._add_machine(table, records, sink)
        return sink

    def increments(self) -> Increments:
        """Architectural increments, compiled; monitors of other signals add nothing."""
        if self._exact is None:
            signals = ["" if counts_timing_model(monitor) else monitor.signal for monitor in self.everyone]
            events = [monitor.event for monitor in self.everyone]
            self._exact = self._compile(signals, events, [self._ranged(event) for event in events], self._counted_at)
        return self._exact

    def _compile(
        self, signals: Sequence[str], events: list[Event], ranged: Sequence[bool], privileges: Sequence[int]
    ) -> Increments:
        """Increments behind the events' filters, which `requalify` may change; ``privileges``: at which each counts."""
        filters = [self._filter(event, counted) for event, counted in zip(events, privileges, strict=True)]
        made = Increments([FilteredSignal(*one) for one in zip(signals, filters, ranged, strict=True)])
        self._compiled.append((made, events, privileges))
        return made

    def requalify(self, registers: RegisterFile) -> None:
        """Applies ranges written to the registers, while everything else is unchanged. Earlier counts are not revised:
        it is for ranges in which nothing can have been before."""
        self._qualifier = Qualifier(self._model, registers.contents())
        if self.data_ranges is not None:
            self.data_ranges = self._qualifier.data_ranges()
        for increments, events, privileges in self._compiled:
            increments.filter([self._filter(event, counted) for event, counted in zip(events, privileges, strict=True)])
        for captures in self._captures:
            captures.set_ranges(self.data_ranges or ())

    def captures(self, table: BlockTable, seed: int = 1) -> CaptureUnits | None:
        """The capture listener of the event address registers and the trace buffer; None: they capture nothing.
        ``seed``: of the choice among loads that overlap."""
        if not self.capturing.captures:
            return None
        from pfmon.counting._counting import CaptureUnits

        filters = self._compile([""] * 3, self._captured_events(), [False] * 3, self._captured_at)
        # Itanium's register honours the data ranges (PMC11.pt), as its event of captures in general does.
        heeded = any(self._ranged(event) for event in self._events if self._events.ear_kind(event.code) == "dear")
        ranges = self.data_ranges or ()
        made = CaptureUnits(table, self.capturing, filters, ranges, heeded, seed, self.owner, self._captured_at[-1])
        self._captures.append(made)
        return made

    def captures_like(self, other: CountingUnit) -> bool:
        """Whether the event address registers and the trace buffer capture the same as those of another unit."""
        return self._capture_key == other._capture_key

    @property
    def _capture_key(self) -> tuple[object, ...]:
        if not self.capturing.captures:
            return ()
        events = zip(self._captured_events(), self._captured_at, strict=True)
        return self.capturing, self.data_ranges, self._captured_at, [self._filter(*one) for one in events]

    def _captured_events(self) -> list[Event]:
        """Events that count captures of the data EAR, the instruction EAR and the trace buffer; of an Intel processor,
        three times one of precise loads; of an AMD processor, which has no qualifiers, any."""
        if register := self._model.target.op_sampling:
            return [next(one for one in self._events if one.extra.startswith(register))] * 3
        if self._model.target.load_latency:
            selected = self._model.target.load_latency
            return [next(one for one in self._events if (one.code, one.umask) == selected)] * 3
        data = next(event for event in self._events if event.ear.startswith("dear"))
        fetch = next(event for event in self._events if event.ear.startswith("iear"))
        return [data, fetch, next(event for event in self._events if event.branch_buffer)]

    def conditions(self, table: BlockTable) -> CycleConditions | None:
        """Counters with conditions on single cycles; None: there are none."""
        if not any(monitor.conditional for monitor in self.monitors):
            return None
        from pfmon.counting._counting import CycleConditions
        from pfmon.counting.totals.record_query import condition_of

        found = [condition_of(monitor) for monitor in self.monitors]
        signals = [
            monitor.signal if one and not one.occurrences and not one.every_cycle else ""
            for monitor, one in zip(self.monitors, found, strict=True)
        ]
        events = [monitor.event for monitor in self.monitors]
        increments = self._compile(signals, events, [False] * len(signals), self._counted_at[: len(events)])
        return CycleConditions(found, increments, table, self.owner)

    @property
    def is_reported(self) -> bool:
        """Whether its events are recorded under its number."""
        return self.capturing.captures or any(monitor.conditional for monitor in self.monitors)

    def queries(self) -> list[RecordQuery]:
        """Record queries of the monitors."""
        from pfmon.counting.totals.record_query import NOTHING_MATCHES, condition_query, query_of

        if self._looks is None:
            self._looks = [
                condition_query(self.owner, number)
                if monitor.conditional
                else NOTHING_MATCHES
                if monitor.signal == DEBUG_MATCHES and self.data_ranges is None
                else query_of(
                    monitor.signal,
                    monitor.threshold,
                    self._ranged(monitor.event),
                    monitor.mesi if monitor.event.mesi else None,
                    self.owner,
                    PLM_USER | PLM_KERNEL if self._whole_system else monitor.plm,
                    monitor.event.max_increment if monitor.threshold else limit(monitor.event),
                )
                for number, monitor in enumerate(self.everyone)
            ]
        return self._looks

    def query_increments(self) -> Increments:
        """Weights and filters of the monitors' record queries."""
        if self._query_increments is None:
            queries = self.queries()
            events = [monitor.event for monitor in self.everyone]
            self._query_increments = self._compile(
                [query.signal for query in queries],
                events,
                [query.ranged for query in queries],
                self._counted_at,
            )
        return self._query_increments

    def _add_machine(self, table: BlockTable, records: MachineRecords, sink: CountAccumulator) -> None:
        from pfmon.counting._counting import MachineTotals

        rate = stack_rate(records.figures)
        MachineTotals(records.machine, self.queries(), self.query_increments(), table, rate).add(
            sink, records.event_sets
        )
        for number, monitor in enumerate(self.monitors):
            if counts_timing_model(monitor):
                sink.add_elsewhere(number, self.level_count(monitor, records))

    def is_level_or_clock(self, monitor: Monitor) -> bool:
        """Whether a monitor counts levels or clocks, which belong to no instruction (`level_count`)."""
        return is_level(monitor) or is_clock(monitor)

    def level_count(self, monitor: Monitor, records: MachineRecords) -> int:
        """Total of levels, slots and the bus's or reference clock, which belong to no instruction, at the monitor's
        privilege levels (PMC.plm, Montecito manual section 3.2.3.2); 0 for others."""
        from pfmon.counting._counting import level_total

        user = self._whole_system or bool(monitor.plm & PLM_USER)
        if isinstance(records.machine, MissMachine):
            return 0
        if is_level(monitor) and user:
            levels = records.machine.levels(records.event_sets)
            terms = machine_signals.meanings()[monitor.signal].terms
            return sum(level_total(levels, term, monitor.threshold) for term in terms)
        if not is_clock(monitor):
            return 0
        meaning = machine_signals.meanings()[monitor.signal]
        if meaning.kind == "slots":
            return int(meaning.terms[0]) * records.machine.time(records.event_sets)[0] * user
        kernel = records.machine.kernel_clock(records.event_sets)
        return (records.machine.time(records.event_sets)[1] - kernel) * user + kernel * (monitor.plm & PLM_KERNEL)

    def _ranged(self, event: Event) -> bool:
        return event.dar and self.data_ranges is not None

    def _filter(self, event: Event, privileges: int = ALL_PRIVILEGES) -> InstructionFilter:
        """Constraints that an event does not support are ignored (pfmon on Itanium 2, section 4.5)."""
        channel = self._qualifier.channel(event)
        code = self._qualifier.code_filter(channel) if event.iar else EVERY_BUNDLE
        opcode = self._qualifier.opcode_filter(channel) if event.opc else EVERY_OPCODE
        if not (self._whole_system and event.iar):
            return InstructionFilter(code, opcode, privileges)
        inner = tuple(self._qualifier.code_filter(channel, level) for level in range(LEVELS - 1))
        return InstructionFilter(code, opcode, privileges, None if set(inner) == {code} else inner)
