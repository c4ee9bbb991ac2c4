"""A PMU that counts while the program runs: registers, overflow, freeze.

The register file is the one truth: whoever writes it, before the run or from a listener, programs the counters. What is
counted reaches it at every overflow and when somebody asks.
"""

from __future__ import annotations

from pfmon.counting.cycles import CycleCounts
from pfmon.counting.live import Live
from pfmon.counting.sampler import Sampler
from pfmon.counting.unit import CountingUnit, stack_rate
from pfmon.errors import PfmonError
from pfmon.light_typing import NamedTuple
from pfmon.pmu.capture_values import CaptureRegisters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pfmon.counting.call_stack import CallStack
    from pfmon.counting.captures import Captures
    from pfmon.counting.increments import Increments
    from pfmon.counting.unit import MachineRecords
    from pfmon.pmu.file import RegisterFile
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.programming import Monitor
    from pfmon.stream.table import BlockTable


class Overflow(NamedTuple):
    """Counters that wrapped together: their PMDs, the address of the instruction that did it (0: none), and how many
    instructions have retired, itself included; ``calls``: the instructions that called, the latest first, if they are
    wanted."""

    pmds: tuple[int, ...]
    address: int
    retired: int
    calls: tuple[int, ...] = ()


class LiveUnit:
    """Counts as the registers of a PMU say, while a program runs.

    ``consumer`` reads the stream; with a machine it is shown the machine's records instead (`Machine.show`).
    ``listener`` is called at every overflow, with the counts in the registers; what it writes there holds from the next
    instruction on. A sampler (sampler.pyx) does the same without Python; the registers do not follow then. Levels and
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
        trigger: tuple[Monitor, int] | None = None,
        until: tuple[Monitor, int] | None = None,
    ) -> None:
        """``calls``: the calls that the program is in, which overflows are to tell; ``skid``: cycles from an overflow
        to its interrupt; ``seed``: of the data EAR's choice among loads; ``event_set``: its number among several, whose
        `consumer` the caller shows (LiveSets); ``held``: numbers of PMDs that a sampler is to have in every sample;
        ``trigger``: nothing counts until this has counted so much; ``until``: nor when this has, from there on.
        PfmonError when a counter cannot count what it is set to."""
        self._calls = calls
        self._event_set = event_set or 0
        self._model = model
        self.registers = registers
        self._table = table
        self._held = held
        sampler = listener if isinstance(listener, Sampler) else None
        self._listener = None if isinstance(listener, Sampler) else listener
        if sampler:
            sampler.extra = self.beside
        self._records = records
        self._guests = [one[0] for one in (trigger, until) if one]
        self._unit = CountingUnit(model, registers, self._guests)
        self._skid, self._seed = skid, seed
        self._programmed = registers.configured
        ia32 = model.architecture == "ia64" and bool(registers.field("psr", "is"))
        self._values = CaptureRegisters(model, ia32) if model.programmer.data_ear_pmds else None
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
                records.machine.show(self.consumer)
            self._tell(records)

    def _countdown(self, records: MachineRecords | None) -> type[Live]:
        """What counts: an out-of-order machine says of each instruction what happened to it."""
        if records is None or self._skid:
            return Live
        from pfmon.counting.live_in_order import LiveInOrder
        from pfmon.machine.names import OUT_OF_ORDER

        if records.figures.core != OUT_OF_ORDER:
            return Live
        return LiveInOrder

    def _tell(self, records: MachineRecords) -> None:
        """Have the machine tell what it decides: captures, and cycles to counters with conditions on them."""
        records.machine.tell(self._captures, self._event_set)
        conditions = self._unit.conditions(self._table)
        if tell := getattr(records.machine, "tell_cycles", None):
            tell(conditions, self._event_set)

    def sync(self) -> None:
        """Bring the registers up to what has been counted."""
        counts = self.consumer.counts()
        deltas = [now - before for now, before in zip(counts, self._taken, strict=True)]
        self._taken = counts
        self.registers.add_together(
            {monitor.pmd: delta for monitor, delta in zip(self._unit.monitors, deltas, strict=True)}
        )
        if self._captures:
            self._sync_captures(self._captures)

    def _sync_captures(self, captures: Captures) -> None:
        """Bring the event address registers and the trace buffer up to what was captured."""
        setting, made = self._unit.capturing, self._values
        assert made
        values: dict[int, int] = {}
        if setting.data:
            values |= made.data(captures.data())
        if setting.fetch:
            values |= made.fetch(captures.fetched())
        if setting.branches or setting.ip_ear is not None:
            values |= made.trace(captures.branches())
        self.registers.hold(values)

    @property
    def monitors(self) -> tuple[Monitor, ...]:
        """What counts, in the order of the consumer's counters."""
        return self._unit.monitors

    @property
    def data_ranges(self) -> Sequence[tuple[int, int]]:
        """(address, mask) of the data ranges in force."""
        return self._unit.data_ranges or ()

    def clear_captures(self) -> None:
        """Let the event address registers and the trace buffer be as if nothing had been captured: what a driver does
        when it has read them."""
        if self._captures:
            self._captures.clear()

    @property
    def beside(self) -> Callable[[], tuple[tuple[tuple[int, int], ...], tuple[int, ...]]] | None:
        """What gives what a sample has besides counts; None: there is nothing."""
        return self._beside if self._held or self._calls else None

    def _beside(self) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
        """What a sample has besides counts: the registers that are held, and the calls that the program is in. A driver
        clears what captures when it has read it."""
        if self._held and self._captures:
            self._sync_captures(self._captures)
            self.clear_captures()
        registers = tuple((number, self.register(number)) for number in self._held)
        return registers, self._calls.sites() if self._calls else ()

    def register(self, number: int) -> int:
        """What a PMD holds while a sampler counts, or at an overflow that a listener is told."""
        if self._listener:
            return self.registers.count(number)
        for monitor, left in zip(self._unit.monitors, self.consumer.left_of(), strict=False):
            if monitor.pmd == number:
                return -left & ((1 << self.registers.bank.width) - 1)
        name = self.registers.data_register(number)
        return self.registers.held(name) if name else 0

    def totals(self) -> dict[int, int]:
        """By PMD what was counted, when the run has ended."""
        counts = zip(self._unit.monitors, self.consumer.counts(), strict=True)
        stood = self._unit.stood
        return {one.pmd: n + (stood(one, self._records) if self._records else 0) for one, n in counts}

    def finish(self) -> None:
        """The run has ended: bring the registers up to date. Raises what the listener raised."""
        if self.consumer.error:
            raise self.consumer.error
        if self._listener is None:
            return
        self.sync()
        if records := self._records:
            self.registers.add_together(
                {monitor.pmd: self._unit.stood(monitor, records) for monitor in self._unit.monitors}
            )

    def stood(self) -> dict[int, int]:
        """By PMD what counts at the end of a run alone, as the machine has it since that began: to be asked for behind
        its `settle`. None of it is in `sync`."""
        records = self._records
        if records is None:
            return {}
        return {one.pmd: self._unit.stood(one, records) for one in self._unit.monitors if self._unit.stands(one)}

    def _overflowed(self, monitors: list[int], address: int, retired: int) -> None:
        pmds = tuple(self._unit.monitors[number].pmd for number in monitors)
        self.sync()
        assert self._listener
        self._listener(Overflow(pmds, address, retired, self._calls.sites() if self._calls else ()))
        self.reload()

    def requalify(self) -> None:
        """Ranges were written to the registers that nothing could be in before: all goes on with them
        (`CountingUnit.requalify`)."""
        self._programmed = self.registers.configured
        self._unit.requalify(self.registers)
        if self._unit.data_ranges is not None:
            self.consumer.set_ranges(self._unit.data_ranges)

    def reload(self) -> None:
        """Take what the registers say, between two instructions and behind `sync`: the configuration if it was changed,
        how far each counter is from its end. PfmonError as when this is made."""
        if self.registers.configured != self._programmed:
            self._programmed = self.registers.configured
            self._unit = CountingUnit(self._model, self.registers, self._guests)
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
        self.consumer.hold_off(waiting)

    def _exact(self) -> Increments:
        return self._unit.increments()

    def _cycles(self) -> CycleCounts | None:
        """The monitors' looks at the machine's records. PfmonError: there is no machine and one is needed."""
        if self._records is None:
            if self._unit.wants_machine or self._skid:
                raise PfmonError("a machine has to run for these events")
            return None
        machine, rate = self._records.machine, stack_rate(self._records.figures)
        return CycleCounts(self._unit.looks(), self._unit.look_increments(), self._table, machine.records, rate)
