"""The PMU of a run in which the program has it: the register file that its system calls write, at work on its stream.

It is what pfmon counts with when it counts itself: registers, live counting (counting/live_unit.py), the gate that
PSR.up opens (counting/gate.pyx), the machine. The kernel that the program talks to writes registers between two
instructions, and is told of overflows where they happen. The program itself is stopped for them at the end of a block
(`next_look`).
"""

from __future__ import annotations

from contextlib import nullcontext

from pfmon.counting.countable import has_kernel_time
from pfmon.counting.live_sets import LiveSets
from pfmon.counting.live_unit import LiveUnit, Overflow
from pfmon.counting.unit import CountingUnit
from pfmon.errors import BadValueError, PfmonError
from pfmon.pmu.monitors import read_counters
from pfmon.session.controls import Controls
from pfmon.session.gating import gate
from pfmon.session.monitoring import nothing_is_lost
from pfmon.session.pace import FURTHEST, Pace
from pfmon.stream.consumer import Consumer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager

    from pfmon.engine.api import Engine, PmuEvent
    from pfmon.machine.machine_figures import MachineFigures
    from pfmon.pmu.model import PmuModel
    from pfmon.session.machine_run import MachineRun

EVENT_SETS = 2
"""What is counted, and what nobody counts."""


class ProgramPmu:
    """The PMU that the program has (engine.api.ProgramPmu). ``consumer`` is for the engine, which runs within
    ``running``; this answers the program's reads of counters."""

    def __init__(self, model: PmuModel, engine: Engine, figures: MachineFigures | None, ear_seed: int = 1) -> None:
        """``figures``: of the machine that the program runs on; None: only what architecture decides can be counted."""
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
            self._machine.machine.show(self._live)
        self._gate = gate(
            *(Controls(), engine.table, engine.traced, [Consumer()]),
            machine=self._machine.machine if self._machine else self._live,
        )
        self._gate.steer(False, None)
        self._pace = Pace()
        self._ranges: Sequence[tuple[int, int]] = ()
        self._accepted = self.registers.configured
        self._stood: dict[int, int] = {}
        self._alarm: int | None = None
        self.consumer: Consumer = self._machine.feed(self._gate) if self._machine else self._gate

    def _make_machine(self, figures: MachineFigures) -> MachineRun:
        from pfmon.session.machine_run import MachineRun  # exact events alone need none

        return MachineRun(figures, self._engine.table, event_sets=EVENT_SETS, threaded=False)

    @property
    def pmu(self) -> ProgramPmu:
        """It is the program's."""
        return self

    @property
    def running(self) -> AbstractContextManager[object]:
        """The program runs within it."""
        return self._machine or nullcontext()

    # --- for the kernel that the program talks to

    @property
    def counters(self) -> Sequence[int]:
        """The PMDs that are event counters."""
        return self.registers.bank.numbers

    @property
    def width(self) -> int:
        """Bits of a counter."""
        return self.registers.bank.width

    def tell(self, told: Callable[[Sequence[int], int, int], None] | None) -> None:
        """Who is told of overflows: the PMDs that wrapped together, the instruction that did it (address | slot), how
        many have retired, itself included. What that writes holds from the next instruction on."""
        self._told = told

    def settle(self) -> None:
        """Bring the registers up to the instruction that is next. Before they are read or written, but by who is told
        of an overflow."""
        if self._machine:
            self._machine.settle(self._engine.ip)
        self._unit.sync()
        self._add_stood()

    def _add_stood(self) -> None:
        """Levels and clocks count when somebody looks, and overflow then."""
        now = self._unit.stood()
        wrapped = self.registers.add_together({pmd: count - self._stood.get(pmd, 0) for pmd, count in now.items()})
        self._stood = now
        if wrapped:
            self._overflowed(Overflow(tuple(wrapped), 0, self._engine.retired))

    def held(self, name: str) -> int:
        """What a register holds."""
        return self.registers.held(name)

    def write(self, name: str, value: int) -> None:
        """Write a register. ValueError: it takes no such value."""
        if name.startswith("pmd"):
            number = int(name[3:])
            count = value & ((1 << self.width) - 1) if number in self.counters else value
            self.registers.hold({number: count})
            return
        try:
            self.registers.write(name, value)
        except BadValueError as error:
            raise ValueError(str(error)) from error

    def freeze(self, frozen: bool) -> None:
        """PMC0.fr: whether nothing counts."""
        self.registers.write("pmc0", int(frozen))

    def clear_captures(self) -> None:
        """The registers that capture are as if nothing had been captured."""
        self._unit.clear_captures()

    def commit(self) -> str:
        """Registers were written: count as they say from here on. What cannot be counted, in words; "" if all can. Then
        nothing is as it was before until they are written anew."""
        reason = self._refusal() if self.registers.configured != self._accepted else ""
        if not reason:
            self._accepted = self.registers.configured
            self._unit.reload()
            self._stood = self._unit.stood()
            if self._machine and self._unit.data_ranges != self._ranges:
                self._ranges = self._unit.data_ranges
                self._machine.set_ranges(self._ranges)
        return reason

    def steer(self, on: bool, up: bool | None) -> None:
        """Whether counters count from here on; ``up``: PSR.up, which the program may change; None: it does not
        matter."""
        self._gate.steer(on, up)

    def watch(self, pmds: Collection[int]) -> None:
        """The counters whose overflow the program is to be stopped for."""
        self._watched = pmds
        self._pace.forget()

    def alarm(self, retired: int | None) -> None:
        """Stop the program when so many instructions have retired, at the end of a block; None: not for this."""
        self._alarm = retired

    def named(self, event: PmuEvent) -> PmuEvent:
        """An event by its code, whatever it was given by. PfmonError: there is none such, or it cannot be counted."""
        from pfmon.session.event_codes import by_code  # only who counts events by their codes

        return by_code(self._model, event, self._machine is not None)

    def assign(self, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
        """Register values that make events count, and their counters, in order. PfmonError: they cannot count
        together."""
        from pfmon.session.event_codes import assigned  # as above

        return assigned(self._model, events)

    # --- for the engine

    def next_look(self) -> int | None:
        """When so many instructions have retired, the program is to be stopped at the end of a block: a counter that is
        watched may have wrapped. None: none will."""
        if not self._watched or self.registers.frozen:
            return self._alarm
        retired = self._engine.retired
        lefts = self._unit.consumer.left_of()
        watched = [
            (monitor, left)
            for monitor, left in zip(self._unit.monitors, lefts, strict=True)
            if monitor.pmd in self._watched
        ]
        least = 1 if self._gate.counting else FURTHEST  # the program may set PSR.up
        look = self._pace.next_look(watched, retired, least)
        looks = [one for one in (look, self._alarm) if one is not None]
        return min(looks, default=None)

    def read_pmd(self, number: int) -> int:
        """What the program reads from a performance data register."""
        self.settle()
        return self.registers.read_data(number, cpl=3)

    def another(self, engine: Engine) -> ProgramPmu:
        """One for another program of the run, from here on; its machine begins empty."""
        self._others.append(ProgramPmu(self._model, engine, self._figures, self._seed))
        return self._others[-1]

    # --- for the session

    def finish(self) -> None:
        """The program has ended. LostError when counts would lack something; raises what went wrong in a listener."""
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
        """Why something that the registers say cannot be counted."""
        try:
            reading = read_counters(self._model, self.registers)
            unit = CountingUnit(self._model, self.registers)
            if unit.wants_machine and not self._machine:
                raise PfmonError("a machine decides this, and with --guest-pmu=exact none runs")
            unit.increments()
            if self._machine:
                unit.looks()
        except PfmonError as error:
            return str(error)
        for monitor in reading.monitors:
            if monitor.plm == 1 and not has_kernel_time(monitor):
                return f"{monitor.event.name}: of the operating system's work at level 0 the time alone is known"
        return ""
