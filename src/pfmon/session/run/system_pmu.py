"""The PMU of a whole processor in system mode: its code programs it register by register, and is interrupted by it.

It consists of the parts with which pfmon itself counts: registers and live counting (counting/live/), whose filters
know at which privilege each block ran, and the machine. The engine hands over each access of an instruction to a PMC,
PMD or breakpoint register, and stops where `next_stop` says, so that the interrupt of an overflow is raised at the
instruction that caused it (Montecito manual sections 3.3.4 and 3.3.11; volume 2, 7.2). pfmon may count beside, on
registers of its own that the code does not see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.counting.totals.refusals import Refusals
from pfmon.engine.guest_pmu import CountedProgram
from pfmon.errors import PfmonError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.registers.ia64_file import Ia64File
from pfmon.session.run.controls import Controls
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.session.run.programmed_pmu import Count, RunData
from pfmon.session.sampling.exact_stops import most_per_instruction
from pfmon.stream._stream import Consumer, Failure, Tee

if TYPE_CHECKING:
    from pfmon.counting._counting import Tally
    from pfmon.session.run.machine_run import MachineRun
    from pfmon.session.run.run_plan import RunPlan

READS = {"read_pmc": "pmc", "read_pmd": "pmd"}
WRITES = {"write_pmc": "pmc", "write_pmd": "pmd", "write_ibr": "ibr", "write_dbr": "dbr"}
"""Accesses by their kind: the registers' names."""


class SystemPmu:
    """The PMU that a processor's code uses (engine.guest_pmu.SystemPmu). ``consumer`` is for the engine, which runs
    within ``running``."""

    def __init__(
        self,
        model: PmuModel,
        engine: CountedProgram,
        figures: MachineFigures | None,
        ear_seed: int = 1,
        beside: EventSets | None = None,
    ) -> None:
        """``figures``: of the machine; None: only architectural events can be counted. ``beside``: what pfmon itself
        counts, on registers of its own. PfmonError: it cannot be counted beside."""
        registers = model.register_file()
        if not isinstance(registers, Ia64File):
            raise PfmonError(f"--guest-pmu: system mode is of the Itaniums, and this is {model.name}")
        self._model, self._engine, self._beside = model, engine, beside
        self.registers = registers
        registers.run_system()
        if beside:
            check_beside(beside, figures is not None)
        self._machine = self._make_machine(figures) if figures else None
        self._raise_pmi: Callable[[], None] | None = None
        self._changed = False
        self._ranges: Sequence[tuple[int, int]] = beside.data_ranges if beside else ()
        records = self._machine.records([0]) if self._machine else None
        self._refusals = Refusals(machine=figures is not None)
        self._unit = LiveUnit(
            *(model, registers, engine.table, engine.traced, self._overflowed, records),
            seed=ear_seed,
            refusals=self._refusals,
        )
        self._level_counts: dict[int, int] = self._unit.level_counts()
        self._tally: Tally | None = None
        if beside and (beside.wants_tally or not self._machine):
            self._tally = beside.tally(engine.table, engine.traced)
        self.consumer: Consumer = self._feed()

    def _make_machine(self, figures: MachineFigures) -> MachineRun:
        from pfmon.session.run.machine_run import MachineRun

        return MachineRun(figures, self._engine.table, event_sets=1, threaded=False)

    def _feed(self) -> Consumer:
        if self._machine:
            return self._machine.feed(beside=self._tally)
        return Tee(self._unit.consumer, self._tally) if self._tally else self._unit.consumer

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context of the processor's run."""
        return self._machine or nullcontext()

    @property
    def pmu(self) -> None:
        """No system calls program it."""
        return None

    # --- for the engine

    def read_data(self, number: int) -> int:
        """Return the value that code at level 3 reads from a PMD."""
        return self.access("read_pmd", number, cpl=3)

    def set_interrupt(self, raise_pmi: Callable[[], None] | None) -> None:
        """Set what raises the performance monitor interrupt, an external one by the vector of PMV. It is called by
        `update_registers`, once for each overflow of counters with PMC.oi, with PMC0 set."""
        self._raise_pmi = raise_pmi

    def access(self, kind: str, number: int, value: int = 0, *, cpl: int = 0, secure: bool = False) -> int:
        """Make an access of the next instruction to a register, by what has retired before it: ``kind`` is one of READS
        and WRITES; ``cpl`` and ``secure`` are PSR.cpl and PSR.sp. Return what a read delivers; a write takes effect
        before the instruction retires. Registers that the processor lacks read as 0, and ignore writes. PfmonError: a
        counter is read that cannot be counted as it is programmed."""
        self.update_registers()
        if kind in READS:
            return self._read(READS[kind], number, cpl, secure)
        self._write(WRITES[kind], number, value)
        return 0

    def _read(self, register: str, number: int, cpl: int, secure: bool) -> int:
        name = f"{register}{number}"
        if name not in self.registers.registers:
            return 0
        if cpl and register == "pmd" and (secure or self._is_privileged(number)):
            return 0
        if register == "pmd" and number in self._refusals.reasons:
            raise PfmonError(f"the processor's code reads PMD{number}: {self._refusals.reasons[number]}")
        return self.registers.read(name)

    def _is_privileged(self, pmd: int) -> bool:
        """Whether the monitor of a PMD is privileged: code above level 0 reads 0 then (Montecito manual table 3-5)."""
        registers, units = self.registers, self._model.target.captures
        if pmd in registers.bank.numbers:
            return bool(registers.field(f"pmc{pmd}", "pm"))
        if units is None:
            return False
        named = [(units.data.data, units.data.configuration), (units.instruction.data, units.instruction.configuration)]
        named.append((units.branches.data, units.branches.configuration))
        if units.ip_ear and registers.field(units.ip_ear, "mode"):
            named[-1] = (units.branches.data, units.ip_ear)
        return any(pmd in data and registers.field(configuration, "pm") for data, configuration in named)

    def _write(self, register: str, number: int, value: int) -> None:
        name = f"{register}{number}"
        if name in self.registers.registers:
            self.registers.write(name, value)
            self._changed = True
            if register == "pmd":
                self._unit.load_captures(number)

    def next_stop(self) -> int | None:
        """Return the number of retired instructions up to which no interrupt can be due, so that the engine stops there
        exactly; None: no counter can raise one. To be asked for before each run of the engine, which counts by the
        registers as they are then."""
        self._commit()
        if self.registers.frozen:
            return None
        lefts = self._unit.consumer.increments_left()
        steps = [
            -(-left // most_per_instruction(monitor))
            for monitor, left in zip(self._unit.monitors, lefts, strict=True)
            if monitor.overflow_interrupt and not self._unit.is_level_or_clock(monitor)
        ]
        return self._engine.retired + min(steps) if steps else None

    def update_registers(self) -> None:
        """Bring the registers up to the next instruction, and raise the interrupt that is due. To be called after a
        stop that `next_stop` chose; an access does it itself."""
        if error := self._unit.consumer.error:
            raise error
        if self._machine:
            self._machine.update_records(self._engine.ip)
        self._unit.sync()
        self._add_stood()
        if self.registers.interrupt:
            self.registers.interrupt = False
            if self._raise_pmi:
                self._raise_pmi()

    # --- for the session

    def counts(self) -> list[Count]:
        """The counts of what pfmon counts beside, after the run."""
        if self._beside is None:
            return []
        records = self._machine.records([0]) if self._machine else None
        self._beside.take(RunData(self._engine.table, self._tally, records))
        return self._beside.counts()

    def notes(self) -> list[str]:
        """Counters that the code leaves programmed, and that were not counted."""
        return [f"the processor's code: {reason}" for _, reason in sorted(self._refusals.reasons.items())]

    def finish(self) -> None:
        """End the run. LostError: counts would be incomplete."""
        if error := self._unit.consumer.error:
            raise error
        nothing_is_lost(self._failures())

    def _failures(self) -> list[Failure]:
        tally = [self._tally.failure] if self._tally else []
        machine = self._machine.failures if self._machine else []
        return [self._engine.table.failure, self._unit.consumer.failure, *tally, *machine]

    # --- counting

    def _commit(self) -> None:
        """Count by what has been written to the registers. While they are frozen nothing counts: what the others say is
        read when they are not."""
        if not self._changed:
            return
        if self.registers.frozen:
            self._unit.consumer.freeze(True)
            return
        self._changed = False
        self._unit.reload()
        self._level_counts = self._unit.level_counts()
        if self._machine and list(self._unit.data_ranges) != list(self._ranges):
            self._ranges = self._unit.data_ranges
            self._machine.set_ranges(self._ranges)

    def _add_stood(self) -> None:
        """Add levels and clocks, which count, and overflow, only when read."""
        now = self._unit.level_counts()
        self.registers.add_together({pmd: count - self._level_counts.get(pmd, 0) for pmd, count in now.items()})
        self._level_counts = now

    def _overflowed(self, overflow: Overflow) -> None:
        """The registers have noted the overflow; `update_registers` raises its interrupt."""


def counted_beside(plan: RunPlan, groups: Sequence[EventSets]) -> EventSets | None:
    """Return what pfmon counts beside the code's own PMU; None: nothing. PfmonError: it cannot be counted beside."""
    always = plan.controls._replace(ear_seed=Controls().ear_seed) == Controls()
    if len(groups) > 1 or plan.sampling or not always:
        raise PfmonError("--guest-pmu: beside the processor's code pfmon counts one event set, from beginning to end")
    return groups[0] if groups else None


def check_beside(beside: EventSets, machine: bool) -> None:
    """Raise PfmonError for what pfmon does not count beside the code's own PMU."""
    units = [one.unit for one in beside.sets]
    if any(unit.capturing.captures for unit in units):
        raise PfmonError("--guest-pmu: only the processor's code has the event address registers and the trace buffer")
    if machine and beside.data_ranges:
        raise PfmonError("--guest-pmu: on a machine only the processor's code has data ranges")
    if beside.wants_machine and not machine:
        raise PfmonError("--guest-pmu=exact: no machine runs, which decides what pfmon is to count")
