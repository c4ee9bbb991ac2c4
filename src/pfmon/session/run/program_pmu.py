"""The PMU of a run in which the program uses it: the register file that its system calls write, counting its stream.

It consists of the parts with which pfmon itself counts: registers, live counting (counting/live/), the gate that
PSR.up opens (gate.pyx), the machine. The program's kernel writes registers between two instructions and is
notified of overflows at their instruction. The program is stopped for them at the end of a block (`next_poll`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

from pfmon.counting._counting import LiveSets
from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.counting.totals.countable import has_kernel_time
from pfmon.counting.totals.counting_unit import CountingUnit
from pfmon.engine.guest_pmu import CountedProgram, PmuEvent, PmuIdentity
from pfmon.errors import BadValueError, PfmonError
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.session.run.controls import Controls
from pfmon.session.run.event_codes import assigned, by_code
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.session.run.pmu_identity import identity_of
from pfmon.session.sampling.poll_interval import FURTHEST, PollInterval
from pfmon.session.triggers.trigger_gate import gate
from pfmon.stream._stream import Consumer

if TYPE_CHECKING:
    from pfmon.session.run.machine_run import MachineRun


EVENT_SETS = 2
"""Event sets of machine records: counted, and not counted."""


class ProgramPmu:
    """The PMU used by the program (engine.guest_pmu.ProgramPmu). ``consumer`` is for the engine, which runs within
    ``running``; `read_data` serves the program's reads of counters."""

    def __init__(
        self, model: PmuModel, engine: CountedProgram, figures: MachineFigures | None, ear_seed: int = 1
    ) -> None:
        """``figures``: of the machine; None: only architectural events can be counted."""
        self._model = model
        self._engine = engine
        self._figures, self._seed = figures, ear_seed
        self._others: list[ProgramPmu] = []
        self.registers = model.register_file()
        self.registers.run_program()
        self._machine = self._make_machine(figures) if figures else None
        self._told: Callable[[Sequence[int], int, int], None] | None = None
        self._watched: Collection[int] = ()
        self._unit = LiveUnit(
            *(model, self.registers, engine.table, engine.traced, self._overflowed),
            records=self._machine.records([0]) if self._machine else None,
            seed=ear_seed,
            event_set=0,
        )
        self._live = LiveSets(engine.table, engine.traced, [self._unit.consumer])
        if self._machine:
            self._machine.machine.set_observer(self._live)
        self._gate = gate(
            *(Controls(), engine.table, engine.traced, [Consumer()]),
            machine=self._machine.machine if self._machine else self._live,
        )
        self._gate.set_counting(False, None)
        self._poll_interval = PollInterval()
        self._ranges: Sequence[tuple[int, int]] = ()
        self._accepted = self.registers.configured
        self._level_counts: dict[int, int] = {}
        self._timer: int | None = None
        self.consumer: Consumer = self._machine.feed(self._gate) if self._machine else self._gate

    def _make_machine(self, figures: MachineFigures) -> MachineRun:
        from pfmon.session.run.machine_run import MachineRun

        run = MachineRun(figures, self._engine.table, event_sets=EVENT_SETS, threaded=False)
        run.record_events(executions=True, sources=True)  # what the program will count is not known
        return run

    @property
    def pmu(self) -> ProgramPmu:
        """This PMU: the program uses it."""
        return self

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context of the program's run."""
        return self._machine or nullcontext()

    # --- for the program's kernel

    @property
    def counters(self) -> Sequence[int]:
        """The PMDs that are event counters."""
        return self.registers.bank.numbers

    @property
    def width(self) -> int:
        """The width of a counter in bits."""
        return self.registers.bank.width

    @cached_property
    def identity(self) -> PmuIdentity:
        """Its description for programs; of an x86 PMU alone."""
        return identity_of(self._model)

    def set_overflow_handler(self, told: Callable[[Sequence[int], int, int], None] | None) -> None:
        """Set the overflow handler, called with the PMDs that wrapped together, the instruction (address | slot), and
        the number of retired instructions including it. Its register writes take effect at the next instruction."""
        self._told = told

    def update_registers(self) -> None:
        """Bring the registers up to the next instruction. Required before reading or writing them, except in the
        overflow handler."""
        if self._machine:
            self._machine.update_records(self._engine.ip)
        self._unit.sync()
        self._add_stood()

    def _add_stood(self) -> None:
        """Add levels and clocks, which count, and overflow, only when read."""
        now = self._unit.level_counts()
        wrapped = self.registers.add_together(
            {pmd: count - self._level_counts.get(pmd, 0) for pmd, count in now.items()}
        )
        self._level_counts = now
        if wrapped:
            self._overflowed(Overflow(tuple(wrapped), 0, self._engine.retired))

    def read(self, name: str) -> int:
        """Return a register's value."""
        return self.registers.peek(name)

    def write(self, name: str, value: int) -> None:
        """Write a register. ValueError: invalid value."""
        if name.startswith("pmd"):
            self.write_counter(int(name[3:]), value)
            return
        try:
            self.registers.write(name, value)
        except BadValueError as error:
            raise ValueError(str(error)) from error

    def read_counter(self, number: int) -> int:
        """Return the value of a PMD."""
        return self.registers.peek(self._model.data_name(number).lower())

    def write_counter(self, number: int, value: int) -> None:
        """Write a PMD: of a counter the bits that it has."""
        count = value & ((1 << self.width) - 1) if number in self.counters else value
        self.registers.store({number: count})

    def freeze(self, frozen: bool) -> None:
        """Freeze the counters, or let the registers decide again (`RegisterFile.freeze`)."""
        self.registers.freeze(frozen)

    def clear_captures(self) -> None:
        """Reset the capture registers to their empty state."""
        self._unit.clear_captures()

    def commit(self) -> str:
        """Count according to the written registers from here on. Return a description of anything that cannot be
        counted, "" if all can; nothing counts then until the registers are written again."""
        reason = self._refusal() if self.registers.configured != self._accepted else ""
        if not reason:
            self._accepted = self.registers.configured
            self._unit.reload()
            self._level_counts = self._unit.level_counts()
            if self._machine and self._unit.data_ranges != self._ranges:
                self._ranges = self._unit.data_ranges
                self._machine.set_ranges(self._ranges)
        return reason

    def set_counting(self, on: bool, monitoring: bool | None) -> None:
        """Set whether counters count from here on; ``monitoring``: PSR.up, which the program may change; None: ignore
        PSR.up."""
        self._gate.set_counting(on, monitoring)

    def set_overflow_stops(self, counters: Collection[int]) -> None:
        """Set the counters whose overflow stops the program."""
        self._watched = counters
        self._poll_interval.forget()

    def set_timer(self, retired: int | None) -> None:
        """Stop the program at the end of a block when this number of instructions has retired; None: never."""
        self._timer = retired

    def named(self, event: PmuEvent) -> PmuEvent:
        """Return the PMU's event for a code or a generic name. PfmonError: there is no such event, or it cannot be
        counted."""
        return by_code(self._model, event, self._machine is not None)

    def assign(self, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
        """Return the register values that count events, and their counters, in order. PfmonError: they cannot count
        together."""
        return assigned(self._model, events)

    # --- for the engine

    def next_poll(self) -> int | None:
        """Return the number of retired instructions at which the program is stopped at the end of a block, as a watched
        counter may have wrapped. None: no watched counter will wrap."""
        if not self._watched or self.registers.frozen:
            return self._timer
        retired = self._engine.retired
        lefts = self._unit.consumer.increments_left()
        watched = [
            (monitor, left)
            for monitor, left in zip(self._unit.monitors, lefts, strict=True)
            if monitor.pmd in self._watched
        ]
        least = 1 if self._gate.counting else FURTHEST  # the program may set PSR.up
        look = self._poll_interval.next_poll(watched, retired, least)
        queries = [one for one in (look, self._timer) if one is not None]
        return min(queries, default=None)

    def read_data(self, number: int) -> int:
        """Return the value that the program reads from a performance data register."""
        self.update_registers()
        return self.registers.read_data(number, cpl=3)

    def pmu_of_program(self, engine: CountedProgram) -> ProgramPmu:
        """Return a PMU for another program of the run, with an empty machine."""
        self._others.append(ProgramPmu(self._model, engine, self._figures, self._seed))
        return self._others[-1]

    # --- for the session

    def finish(self) -> None:
        """End the run. LostError: counts would be incomplete; raises exceptions of listeners."""
        if error := self._unit.consumer.error:
            raise error
        failures = [self._engine.table.failure, self._gate.failure, self._live.failure, self._unit.consumer.failure]
        nothing_is_lost([*failures, *(self._machine.failures if self._machine else ())])
        for other in self._others:
            other.finish()

    def _overflowed(self, overflow: Overflow) -> None:
        pmds = self.registers.take_overflows()
        if self._told:
            self._told(pmds, overflow.address or self._engine.ip, overflow.retired)

    def _refusal(self) -> str:
        """Return why the registers' programming cannot be counted; "" if it can."""
        try:
            reading = read_counters(self._model, self.registers)
            unit = CountingUnit(self._model, self.registers)
            if unit.wants_machine and not self._machine:
                raise PfmonError("a machine decides this, and with --guest-pmu=exact none runs")
            unit.increments()
            if self._machine:
                unit.queries()
        except PfmonError as error:
            return str(error)
        for monitor in reading.monitors:
            if monitor.plm == 1 and not has_kernel_time(monitor):
                return f"{monitor.event.name}: of the operating system's work at level 0 the time alone is known"
        return ""
