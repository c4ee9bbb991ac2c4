"""A PMU that counts while the program runs: registers, overflow, freeze.

The register file is the one truth: any write to it, before the run or from a listener, programs the counters. Counts
are written back to it at every overflow and on request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.counting._counting import (
    CallStack,
    CaptureUnits,
    Increments,
    LastBranches,
    LiveCounting,
    RecordCounts,
    Sampler,
)
from pfmon.counting.totals.counting_unit import CountingUnit, MachineRecords, stack_rate
from pfmon.counting.totals.refusals import Refusals
from pfmon.errors import PfmonError
from pfmon.pmu.capture.capture_values import CaptureRegisters
from pfmon.pmu.capture.precise_loads import precise_load_values
from pfmon.pmu.capture.sampled_ops import sampled_op_values
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.stream._stream import BlockTable


class Overflow(NamedTuple):
    """Counters that overflowed together: their PMDs, the address of the instruction that caused it (0: none), and the
    number of retired instructions, itself included; ``calls``: the call instructions, the latest first, if
    requested."""

    pmds: tuple[int, ...]
    address: int
    retired: int
    calls: tuple[int, ...] = ()


class LiveUnit:
    """Counts as programmed in the registers of a PMU, while a program runs.

    ``consumer`` reads the stream; with a machine it gets the machine's records instead (`Machine.show`).
    ``listener`` is called at every overflow, with the counts in the registers; its writes take effect at the next
    instruction. A sampler (sampler.pyx) does the same without Python; the registers are not updated then. Levels and
    the bus's clock count at the end of the run (`finish`), and do not overflow.
    """

    def __init__(
        self,
        model: PmuModel,
        registers: RegisterFile,
        table: BlockTable,
        traced: bool,
        listener: Callable[[Overflow], None] | Sampler,
        records: MachineRecords | None = None,
        calls: CallStack | None = None,
        skid: int = 0,
        seed: int = 1,
        event_set: int | None = None,
        held: Sequence[int] = (),
        stacks: bool = True,
        trigger: tuple[Monitor, int] | None = None,
        until: tuple[Monitor, int] | None = None,
        refusals: Refusals | None = None,
    ) -> None:
        """``calls``: followed for overflows: the call stack, with last branch records or without; ``stacks``: the call
        stack is reported; ``skid``: cycles from an overflow to its interrupt; ``seed``: of the data EAR's choice among
        loads; ``event_set``: its number among several, whose `consumer` the caller shows (LiveSets); ``held``: numbers
        of PMDs that a sampler adds to every sample; ``trigger``: nothing counts until this has counted so much;
        ``until``: counting ends when this has, from there on; ``refusals``: as for CountingUnit. PfmonError when a
        counter does not support its setting."""
        self._calls = calls
        self._branches = calls if isinstance(calls, LastBranches) else None
        self._stacks = stacks
        self._event_set = event_set or 0
        self._model = model
        self.registers = registers
        self._table = table
        self._held = held
        sampler = listener if isinstance(listener, Sampler) else None
        self._listener = None if isinstance(listener, Sampler) else listener
        self._sampler = sampler
        if sampler:
            sampler.extra = self.beside
        self._records = records
        self._guests = [one[0] for one in (trigger, until) if one]
        self._refusals = refusals
        self._unit = CountingUnit(model, registers, self._guests, refusals)
        self._skid, self._seed = skid, seed
        self._programmed = registers.configured
        ia32 = model.architecture == "ia64" and bool(registers.field("psr", "is"))
        self._values = CaptureRegisters(model, ia32) if model.target.captures else None
        self._captures = self._unit.captures(table, seed)
        self.consumer = self._countdown(records)(
            table,
            self._exact(),
            traced,
            self._overflowed,
            self._unit.data_ranges,
            self._cycles(),
            self._calls,
            self._captures,
            skid,
            sampler,
            trigger[1] if trigger else None,
            until[1] if until else None,
        )
        self._taken = [0] * len(self._unit.monitors)
        if not sampler:
            self.reload()
        if records:
            if event_set is None:
                records.timed.set_observer(self.consumer)
            self._tell(records)

    def _countdown(self, records: MachineRecords | None) -> type[LiveCounting]:
        """Class of the countdown: an out-of-order machine records events of each instruction."""
        if records is None or self._skid:
            return LiveCounting
        from pfmon.counting._counting import LivePerInstruction
        from pfmon.machine.config.machine_figures import OUT_OF_ORDER

        if records.figures.core != OUT_OF_ORDER:
            return LiveCounting
        return LivePerInstruction

    def _tell(self, records: MachineRecords) -> None:
        """Registers the machine's listeners: of captures, and of cycles for counters with conditions on them."""
        records.timed.listen(self._captures, self._event_set)
        conditions = self._unit.conditions(self._table)
        if tell := getattr(records.timed, "listen_to_cycles", None):
            tell(conditions, self._event_set)

    def sync(self) -> None:
        """Updates the registers with the counts so far."""
        counts = self.consumer.counts()
        deltas = [now - before for now, before in zip(counts, self._taken, strict=True)]
        self._taken = counts
        self.registers.add_together(
            {monitor.pmd: delta for monitor, delta in zip(self._unit.monitors, deltas, strict=True)}
        )
        if self._captures and self._values:
            self._sync_captures(self._captures)

    def _sync_captures(self, captures: CaptureUnits) -> None:
        """Updates the event address registers and the trace buffer with the captures so far."""
        setting, made = self._unit.capturing, self._values
        assert made
        values: dict[int, int] = {}
        data, fetched = captures.data(), captures.fetched()
        if setting.data and (data or not self._refusals):
            values |= made.data(data)
        if setting.fetch and (fetched or not self._refusals):
            values |= made.fetch(fetched)
        if setting.branches or setting.ip_ear is not None:
            values |= made.trace(captures.branches())
        self.registers.store(values)

    @property
    def monitors(self) -> tuple[Monitor, ...]:
        """Monitors in the order of the consumer's counters."""
        return self._unit.monitors

    def is_level_or_clock(self, monitor: Monitor) -> bool:
        """Whether a monitor's count is only known when the run ends (`level_counts`)."""
        return self._unit.is_level_or_clock(monitor)

    @property
    def data_ranges(self) -> Sequence[tuple[int, int]]:
        """(address, mask) of the data ranges in force."""
        return self._unit.data_ranges or ()

    def load_captures(self, number: int) -> None:
        """Captures go on behind what code has written to PMD ``number`` of an event address register, or of the trace
        buffer; after `sync`."""
        units, captures = self._model.target.captures, self._captures
        if captures is None or self._values is None or units is None:
            return
        captures.forget(number in units.data.data, number in units.instruction.data)
        if number in units.branches.data:
            held = {one: self.registers.peek(f"pmd{one}") for one in units.branches.data}
            captures.load_trace(*self._values.trace_in(held))

    def clear_captures(self) -> None:
        """Clears the event address registers and the trace buffer, as a driver does after reading them."""
        if self._captures:
            self._captures.clear()

    @property
    def beside(self) -> Callable[[], tuple[tuple[tuple[int, int], ...], tuple[int, ...]]] | None:
        """Callback for the parts of a sample besides counts; None: there are none."""
        return self._beside if self._held or self._calls else None

    def _beside(self) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
        """Returns the parts of a sample besides counts: the held registers, and the call stack. A driver clears capture
        registers after reading them."""
        captured = dict(self._branches.registers()) if self._branches else {}
        if self._held and self._captures:
            if self._values:
                self._sync_captures(self._captures)
            elif self._model.target.op_sampling:
                captured |= self._sampled_op(self._captures)
            else:
                captured |= precise_load_values(self._captures.data())
            self.clear_captures()
        registers = tuple(
            (number, captured[number] if number in captured else self.register(number)) for number in self._held
        )
        return registers, self._sites()

    def _sampled_op(self, captures: CaptureUnits) -> dict[int, int]:
        """Returns the registers of a sampled op; zeros: the sample is of another event."""
        sampler = self._sampler
        sampled = [one.pmd for one in self._unit.monitors if one.event.extra.startswith(self._model.target.op_sampling)]
        if sampler is None or not any(sampler.overflowed >> number & 1 for number in sampled):
            return sampled_op_values(None, 0)
        return sampled_op_values(captures.load_at(sampler.address), sampler.address)

    def _sites(self) -> tuple[int, ...]:
        """Returns the calls that the program is in: all, or in call stack mode those that last branch records have."""
        if self._calls and self._stacks:
            return self._calls.sites()
        return self._branches.calls() if self._branches else ()

    def register(self, number: int) -> int:
        """Returns the value of a PMD while a sampler counts, or during a listener's overflow."""
        if self._listener:
            return self.registers.count(number)
        for monitor, left in zip(self._unit.monitors, self.consumer.increments_left(), strict=False):
            if monitor.pmd == number:
                return -left & ((1 << self.registers.bank.width) - 1)
        name = self.registers.data_register(number)
        return self.registers.peek(name) if name else 0

    def totals(self) -> dict[int, int]:
        """Counts by PMD, after the run."""
        counts = zip(self._unit.monitors, self.consumer.counts(), strict=True)
        stood = self._unit.level_count
        return {one.pmd: n + (stood(one, self._records) if self._records else 0) for one, n in counts}

    def finish(self) -> None:
        """Ends the run: updates the registers. Raises the listener's exception."""
        if self.consumer.error:
            raise self.consumer.error
        if self._listener is None:
            return
        self.sync()
        if records := self._records:
            self.registers.add_together(
                {monitor.pmd: self._unit.level_count(monitor, records) for monitor in self._unit.monitors}
            )

    def level_counts(self) -> dict[int, int]:
        """By PMD the counts that are only known at the end of a run, from the machine since its start: to be read after
        its `update_records`. None of them is in `sync`."""
        records = self._records
        if records is None:
            return {}
        return {
            one.pmd: self._unit.level_count(one, records)
            for one in self._unit.monitors
            if self._unit.is_level_or_clock(one)
        }

    def _overflowed(self, monitors: list[int], address: int, retired: int) -> None:
        pmds = tuple(self._unit.monitors[number].pmd for number in monitors)
        self.sync()
        assert self._listener
        self._listener(Overflow(pmds, address, retired, self._sites()))
        self.reload()

    def requalify(self) -> None:
        """Applies ranges written to the registers in which nothing can have been before (`CountingUnit.requalify`)."""
        self._programmed = self.registers.configured
        self._unit.requalify(self.registers)
        if self._unit.data_ranges is not None:
            self.consumer.set_ranges(self._unit.data_ranges)

    def reload(self) -> None:
        """Reads the registers again, between two instructions and after `sync`: the configuration if it was changed,
        and each counter's distance to overflow. PfmonError as in the constructor."""
        if self.registers.configured != self._programmed:
            self._programmed = self.registers.configured
            before, self._unit = self._unit, CountingUnit(self._model, self.registers, self._guests, self._refusals)
            if not (self._refusals and self._unit.captures_like(before)):
                self._captures = self._unit.captures(self._table, self._seed)
            self.consumer.program(self._exact(), self._unit.data_ranges, self._cycles(), self._captures)
            if self._records:
                self._tell(self._records)
            self._taken = [0] * len(self._unit.monitors)
        self.consumer.freeze(self.registers.frozen)
        waiting = 0
        for number, monitor in enumerate(self._unit.monitors):
            self.consumer.load(number, self.registers.headroom(monitor.pmd))
            waiting |= (not self.registers.enabled(monitor.pmd)) << number
        self.consumer.disable_counters(waiting)

    def _exact(self) -> Increments:
        return self._unit.increments()

    def _cycles(self) -> RecordCounts | None:
        """The monitors' record queries. PfmonError: there is no machine and one is needed."""
        if self._records is None:
            if self._unit.wants_machine or self._skid:
                raise PfmonError("a machine has to run for these events")
            return None
        machine, rate = self._records.machine, stack_rate(self._records.figures)
        return RecordCounts(self._unit.queries(), self._unit.query_increments(), self._table, machine.records, rate)
