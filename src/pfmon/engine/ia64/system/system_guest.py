"""A system image on the IA-64 engine: the loop between the processor, its firmware, its devices and the PMU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Self, TypeGuard, cast

from pfmon.engine.api import Capabilities, ExitReport, StartRequest, StreamDemand
from pfmon.engine.guest_pmu import PerformanceData, SystemPmu
from pfmon.engine.ia64._ia64 import BREAK, CHECK, PMD
from pfmon.engine.ia64.system import simulator_calls
from pfmon.engine.ia64.system.coupled_turns import PART, CoupledTurns
from pfmon.engine.ia64.system.firmware.firmware_calls import BEGIN_BREAK
from pfmon.engine.ia64.system.firmware.pal_entry import CALL_BREAK, WORD_BREAK
from pfmon.engine.ia64.system.guest_pmu import GuestPmu
from pfmon.engine.ia64.system.logical_processor import LogicalProcessor, next_processor
from pfmon.engine.ia64.system.system_clock import SystemClock
from pfmon.engine.ia64.system.system_host import SystemHost
from pfmon.engine.system_settings import SystemTask
from pfmon.isa.ia64 import instruction_set  # noqa: F401 - listings after the run
from pfmon.isa.ia64.disassemble import listing
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet, Mark


class SystemGuest(SystemHost):
    """The engine: its processors execute one at a time, in an order that repeats."""

    @classmethod
    def start(cls, wanted: StartRequest) -> Self:
        """The engine for a session (engine/api.py)."""
        if wanted.system is None:
            raise ValueError("the image has no system to run on")
        return cls(
            wanted.program,
            wanted.system,
            wanted.settings,
            wanted.processor,
            slow=wanted.slow,
            trace=wanted.addresses,
            on_notice=wanted.on_notice,
        )

    instruction_set = InstructionSet.IA64
    capabilities = Capabilities(addresses=True, performance_data=True, takes_turns=True, system=True)
    functions: Sequence[GuestFunction] = ()
    """No Python functions are marked."""

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files of a kernel's program that its processes have executed so far; of another image none."""
        code = self._platform.code if self._platform else None
        return code.mapped if code else ()

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """The turns of its processors."""
        return self._turns

    @property
    def table(self) -> BlockTable:
        """The blocks that its stream names."""
        return self.processor.table

    @property
    def traced(self) -> bool:
        """Whether the addresses of memory accesses are in its stream."""
        return self.processor.traced

    @property
    def tasks(self) -> Sequence[SystemTask]:
        """The tasks that are counted apart, by their numbers in the stream's marks."""
        return self._tasks.switches.tasks if self._tasks else ()

    @property
    def system_seconds(self) -> float:
        """The system's time since it was switched on, also while it runs."""
        return self._current.time / (self._system.processor.frequency * 1e6)

    @property
    def ip(self) -> int:
        """Bundle address | slot of the next instruction."""
        return self.processor.ip

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """Nothing: PSR is the system's, and counters that it may read are its own (--guest-pmu)."""

    def set_clock(self, cycles_before: Callable[[int], int]) -> None:
        """Let ITC count the cycles of the machine that reads the stream: ``cycles_before`` gives those until the
        instruction at an address, which is the next one. Without, it counts instructions."""
        self._current.clock = SystemClock(self.processor, cycles_before)

    def execute_on_demand(self, demand: StreamDemand) -> None:
        """Let two machines that read the streams of two processors decide which of these executes, at their time."""
        self._coupled = CoupledTurns(self._processors, demand, self._let_wait)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Run until the image ends, or `stop` (None). ``performance_data``: with --guest-pmu, the system's PMU."""
        self._reader = consumer
        if self._system.from_boot:
            self._consumer = consumer
            if self._tasks:
                self._tasks.mark(self._current, consumer)
        given = cast(SystemPmu | None, performance_data) if self._system.guest_pmu else None
        pmu = None if given is None else GuestPmu(given, self.processor)
        take_turn = partial(self._take_coupled_turn, self._coupled) if self._coupled else partial(self._take_turn, pmu)
        if self._resumed:
            self.processor.restart_stream(self._consumer)
        try:
            while self._ending is None and not self._stopping:
                take_turn()
        finally:
            self.console.close()
        if self._tasks:
            self._tasks.switches.finish()
        if not self._begun and not (self._ending and self._ending.text):
            self._on_notice("the program has not begun, so that nothing is counted: --from-boot counts the boot")
        self._mark_rest()
        self._say_missing()
        if self._stopping:
            return None
        assert self._ending is not None
        self.processor.emit_mark(consumer, Mark.EXIT, self._ending.status)
        return self._ending

    def _take_turn(self, pmu: GuestPmu | None) -> None:
        """Let the processor that is next execute until it waits; one of several at most for its quantum."""
        chosen = next_processor(self._processors, self._let_wait)
        if not self._begins_turn(chosen):
            return
        processor = chosen.processor
        end = None
        if len(self._processors) > 1:
            end = processor.retired + self._drawn.turn()
            processor.stop_when_retired(end)
        self._turn_over = False
        while not (self._ending or self._stopping or chosen.waits or self._turn_over):
            if end is not None and processor.retired >= end:
                break
            self._run_until_event(pmu)
            self._start_parked()

    def _take_coupled_turn(self, turns: CoupledTurns) -> None:
        """Let the processor execute whose stream the machines need."""
        chosen = turns.begin()
        if not self._begins_turn(chosen):
            return
        assert chosen.clock
        processor = chosen.processor
        end = processor.retired + PART
        processor.stop_when_retired(end)
        while not (self._ending or self._stopping or chosen.waits or chosen.clock.is_due or processor.retired >= end):
            self._run_until_event(None)
            self._start_parked()
        turns.end(chosen)

    def _begins_turn(self, chosen: LogicalProcessor | None) -> TypeGuard[LogicalProcessor]:
        """Whether the run goes on with this processor, which then is the current one; None: none can execute."""
        if self._ending or self._stopping:
            return False
        if chosen is None:
            self._end_badly("the processor is halted, and no interrupt can wake it")
            return False
        self._switch(chosen)
        return True

    def _switch(self, chosen: LogicalProcessor) -> None:
        """Make a processor the current one; its stream has the time that it was halted."""
        if chosen is not self._current:
            self._change(chosen)
        chosen.mark_halted(self._consumer)

    def _mark_rest(self) -> None:
        """Complete the streams of processors that are halted at the end."""
        last = self._current
        for one in self._processors:
            if one.has_marks:
                self._switch(one)
        self._switch(last)

    def _change(self, chosen: LogicalProcessor) -> None:
        """Another processor executes."""
        self._current = chosen
        self._turns.append((self.retired, chosen.number))
        chosen.processor.begin_turn()
        chosen.processor.emit_mark(self._consumer, Mark.THREAD, chosen.number)
        if self._tasks:
            self._tasks.mark(chosen, self._consumer)

    def _start_parked(self) -> None:
        """Have processors that an interrupt has arrived at begin as the system has told firmware."""
        for one in self._processors:
            if one.parked and self._platform and one.processor.interrupt_pending:
                one.parked = not self._platform.begin_other(one.processor)

    def _let_wait(self, time: int) -> None:
        """All processors wait for so long: input may come."""
        if self._platform:
            self._platform.halted(time * 1000 // self._system.processor.frequency)

    def _run_until_event(self, pmu: GuestPmu | None) -> None:
        processor, clock = self.processor, self._current.clock
        stops = [user.next_stop() for user in (pmu, clock) if user]
        processor.stop_exactly_at(min((stop for stop in stops if stop is not None), default=None))
        why = processor.run(self._consumer)
        if self._stopping:
            return
        for user in (pmu, clock):
            if user:
                user.returned()
        if why == BREAK:
            self._break(processor.fault_info)
        elif why == CHECK:
            self._end_badly(f"machine check: {processor.machine_check}{self._hint()}")
        elif why == PMD:
            self._access(pmu)
        if self._snapshots and self._snapshots.is_due and self.is_between_calls() and not self._ending:
            self._take_snapshot()

    def _access(self, pmu: GuestPmu | None) -> None:
        """Do what an instruction waits for that accesses a performance register, or the clock."""
        kind = self.processor.pmu_access[0]
        if kind == "set_task":
            assert self._tasks
            self._tasks.switch(self._current, self._consumer)
        elif kind == "use_clock":
            assert self._current.clock
            self._current.clock.access()
        elif pmu:
            pmu.access()

    def _break(self, immediate: int) -> None:
        if immediate in (CALL_BREAK, BEGIN_BREAK) and self._drawn.delays:
            self._current.delay(self._drawn.delay())
        if immediate == simulator_calls.BREAK:
            self._simulator_call()
        elif self._platform and immediate not in (CALL_BREAK, WORD_BREAK):
            self._platform.take(immediate, self.processor)
        elif self.processor.level:  # the firmware is for level 0 alone (volume 2, 11.10.2.2)
            self._end_badly("machine check: PAL's code executed at a level other than 0")
        else:
            self._current.pal.take(immediate)

    def _simulator_call(self) -> None:
        number = self.processor.gr(15)
        call = simulator_calls.CALLS.get(number)
        if call is None:
            self._note_unknown(number)
            result: int | None = simulator_calls.NO_SUCH_CALL
        else:
            result = call(self, [self.processor.gr(32 + place) for place in range(4)])
        if result is not None:
            self.processor.set_gr(8, result & (1 << 64) - 1)

    def _note_unknown(self, number: int) -> None:
        """Say once that the image makes a call that is not there."""
        if not self._unknown:
            self._on_notice(f"the image makes simulator call {number}, which is not there: it gets -1")
        self._unknown.add(number)

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address | slot and text of every instruction in a range of code, as the image's file has it."""
        return listing(LoadedObjects(self.program).bundle, first, beyond)

    def take_interrupt(self) -> bool:
        """Ctrl-C: whether a kernel gets it from its terminal."""
        return self._platform is not None and self._platform.take_interrupt()

    def stop(self) -> None:
        """Make ``run`` return soon: from any thread, or from a signal handler."""
        self._stopping = True
        for one in self._processors:
            one.processor.request_stop()

    def close(self) -> None:
        """Free the memory, and give the terminal back."""
        if self._platform:
            self._platform.close()
        self.console.close()
        self.memory.space.clear()
