"""A system image on the IA-64 engine: the loop between the processor, its firmware, its devices and the PMU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self, TypeGuard, cast

from pfmon.engine.api import Capabilities, ExitReport, StartRequest, StreamDemand
from pfmon.engine.guest_pmu import PerformanceData, SystemPmu
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import BREAK, CHECK, PMD, AddressSpace, SystemProcessor
from pfmon.engine.ia64.system import simulator_calls
from pfmon.engine.ia64.system.console import Console
from pfmon.engine.ia64.system.coupled_turns import PART, CoupledTurns
from pfmon.engine.ia64.system.devices import interrupt_block
from pfmon.engine.ia64.system.devices.interrupt_block import InterruptBlock
from pfmon.engine.ia64.system.devices.uart import REGISTERS, Uart
from pfmon.engine.ia64.system.drawn_times import DrawnTimes
from pfmon.engine.ia64.system.firmware.firmware_calls import BEGIN_BREAK
from pfmon.engine.ia64.system.firmware.pal_entry import CALL_BREAK, WORD_BREAK, stubs
from pfmon.engine.ia64.system.firmware.pal_processor import HIGHEST_POLICY
from pfmon.engine.ia64.system.guest_pmu import GuestPmu
from pfmon.engine.ia64.system.logical_processor import LogicalProcessor, next_processor
from pfmon.engine.ia64.system.physical_device import PlacedDevice
from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.snapshots.guest_snapshots import GuestSnapshots
from pfmon.engine.ia64.system.snapshots.kept_fields import Keeper, Range
from pfmon.engine.ia64.system.system_clock import SystemClock
from pfmon.engine.ia64.system.tasks.task_layout import KernelMemory
from pfmon.engine.ia64.system.tasks.task_switches import TaskSwitches
from pfmon.engine.ia64.system.tasks.watched_tasks import WatchedTasks
from pfmon.engine.system_settings import SystemSettings, SystemTask, TaskSettings
from pfmon.errors import PfmonError
from pfmon.isa.ia64 import instruction_set  # noqa: F401 - listings after the run
from pfmon.isa.ia64.disassemble import listing
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.image import Program
from pfmon.program.loaded_objects import LoadedObjects, place_of
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet, Mark

if TYPE_CHECKING:
    from pfmon.engine.ia64.system.platform.linux_platform import LinuxPlatform

CR_IVA = 2
INTERRUPTIONS_ALONE = "interruptions follow each other"
"""How the engine's machine check begins that says so (interruptions.pyx)."""
NO_VECTORS = " (it has set no interruption vectors, CR.IVA; a program for Linux runs without --system)"
LONGEST_BLOCK = 96
ENDED_BADLY = 125

Factory = Callable[..., SystemProcessor]


def _processor(memory: AddressSpace, *, max_block: int, trace: bool, table: BlockTable | None) -> SystemProcessor:
    return SystemProcessor(memory, max_block=max_block, trace=trace, table=table)


def _check_uart(system: SystemSettings) -> None:
    """PfmonError: the serial port lies in the memory, or in the interrupt block."""
    if system.uart is None:
        return
    if system.uart < system.memory:
        raise PfmonError(
            f"--uart={system.uart:#x}: is in the memory, which ends at {system.memory:#x} (--memory)"
        ).about("--uart", "--memory")
    if 0 <= system.uart - interrupt_block.ADDRESS < interrupt_block.BYTES:
        raise PfmonError(
            f"--uart={system.uart:#x}: is in the processor's interrupt block, which begins at"
            f" {interrupt_block.ADDRESS:#x}"
        ).about("--uart")


class SystemGuest:
    """One image on its processors, which execute one at a time, in an order that repeats. ``model``: the processor
    (cpuid.py); ``slow``: every instruction is a block; ``trace``: the stream has memory addresses. PfmonError: the
    image does not fit into the memory."""

    def __init__(
        self,
        program: Program,
        system: SystemSettings,
        settings: GuestSettings,
        model: str,
        *,
        slow: bool = False,
        trace: bool = False,
        on_notice: Callable[[str], None] = lambda _: None,
        make: Factory = _processor,
    ) -> None:
        """``make``: gives each processor."""
        self.program = program
        self._system, self._settings, self._on_notice = system, settings, on_notice
        self._console = Console(settings.standard_files, on_notice)
        self.memory = PhysicalMemory(system.memory)
        self.memory.load(program.image)
        _check_uart(system)
        self._code = stubs()
        self.memory.write(self.memory.firmware, self._code)
        self._processors = self._make_processors(partial(make, self.memory.space, trace=trace), slow, model)
        self._current = self._processors[0]
        self._switches = TaskSwitches(KernelMemory(self.memory, program.image), system.tasks or TaskSettings())
        self._tasks = self._watch_tasks()
        self._platform = self._make_platform()
        self._connect_devices()
        self._begin()
        self._consumer = self._reader = Consumer()
        self._uncounted = self._counted = 0
        self._snapshots = self._make_snapshots(model)
        self._drawn = DrawnTimes(settings.schedule_seed, system.quantum)
        self._turn_over = False
        self._begun = system.from_boot
        self._turns = [(0, 0)]
        self._coupled: CoupledTurns | None = None
        self.policy = 0
        self._ending: ExitReport | None = None
        self._stopping = False
        self._unknown: set[int] = set()
        self._resumed = self._resume()

    KEPT: ClassVar[Mapping[str, Range]] = {"policy": (0, HIGHEST_POLICY)}

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

    def _make_processors(self, make: Factory, slow: bool, model: str) -> list[LogicalProcessor]:
        made: list[LogicalProcessor] = []
        pal = self.memory.firmware, len(self._code)
        for number in range(self._system.processors):
            table = made[0].processor.table if made else None
            processor = make(max_block=1 if slow else LONGEST_BLOCK, table=table)
            made.append(LogicalProcessor(number, processor, self._system.processor, model, self, pal))
        if len(made) > 1:
            for one in made:
                one.processor.connect([other.processor for other in made], self._system.processor.threads > 1)
        return made

    def _watch_tasks(self) -> WatchedTasks | None:
        """What tells the tasks of a kernel, and learns of them for a snapshot; None: nobody asks. Handlers set PSR.pp,
        if they are to be told apart."""
        takes_snapshot = self._system.boot is not None and bool(self._system.boot.snapshot)
        marks_handlers = self._system.marks_handlers or takes_snapshot
        if marks_handlers:
            for one in self._processors:
                one.processor.mark_handlers()
        if self._system.tasks is None and not takes_snapshot:
            return None
        return WatchedTasks(self._switches, self._processors, keeps_pp=marks_handlers)

    def _make_platform(self) -> LinuxPlatform | None:
        """What a Linux kernel boots on; None: the image brings its own."""
        if self._system.boot is None:
            return None
        from pfmon.engine.ia64.system.platform.linux_platform import LinuxPlatform

        return LinuxPlatform(self, self.memory, self.program.image, self._system, self._settings, self._on_notice)

    def _make_snapshots(self, model: str) -> GuestSnapshots | None:
        """What takes and restores snapshots; None: there are none of an image without a platform."""
        if self._platform is None:
            return None
        keepers: dict[str, Keeper] = {"system": self, "tasks": self._switches, **self._platform.keepers}
        keepers |= {f"pal{one.number}": one.pal.pal for one in self._processors}
        return GuestSnapshots(
            self._system, model, self.program.image, self._platform, self._processors, self.memory, keepers
        )

    def _resume(self) -> bool:
        """Go on from a snapshot, if there is one: the request that it was taken at gets its answer."""
        if not (self._snapshots and self._platform and self._system.boot and self._system.boot.from_snapshot):
            return False
        current = self._processors[self._snapshots.restore()]
        if self._tasks:
            self._tasks.resume(self._processors)
        if self._system.boot.takes_programs:
            self._platform.resume(current.processor)
        return True

    instruction_set = InstructionSet.IA64
    capabilities = Capabilities(addresses=True, performance_data=True, takes_turns=True, system=True)
    functions: Sequence[GuestFunction] = ()
    """No Python functions are marked."""
    mapped: Sequence[MappedFile] = ()
    """All code is the image's, as far as it has names."""

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """The turns of its processors."""
        return self._turns

    @property
    def processor(self) -> SystemProcessor:
        """The processor that executes."""
        return self._current.processor

    @property
    def table(self) -> BlockTable:
        """The blocks that its stream names."""
        return self.processor.table

    @property
    def traced(self) -> bool:
        """Whether the addresses of memory accesses are in its stream."""
        return self.processor.traced

    @property
    def retired(self) -> int:
        """Instructions retired so far, of all processors, from where the stream begins."""
        if self._counted:
            return self._counted
        return sum(one.processor.retired for one in self._processors) - self._uncounted

    @property
    def tasks(self) -> Sequence[SystemTask]:
        """What is counted apart, by its number in the stream's marks."""
        return self._tasks.switches.tasks if self._tasks else ()

    @property
    def system_seconds(self) -> float:
        """The system's time since it was switched on, also while it runs."""
        return self._current.time / (self._system.processor.frequency * 1e6)

    @property
    def ip(self) -> int:
        """Bundle address | slot of the next instruction."""
        return self.processor.ip

    def _connect_devices(self) -> None:
        """Place the devices at their addresses, for all processors."""
        processors = [one.processor for one in self._processors]
        block = InterruptBlock(processors)
        ours = [simulator_calls.BREAK, CALL_BREAK, WORD_BREAK]
        devices: list[PlacedDevice] = [(interrupt_block.ADDRESS, interrupt_block.BYTES, block)]
        if self._platform:
            ours += self._platform.reserved_breaks
            devices += self._platform.make_devices(block)
        elif self._system.uart is not None:
            devices.append((self._system.uart, REGISTERS, Uart(self.console)))
        for processor in processors:
            processor.set_reserved_breaks(ours)
            if self._platform:
                processor.set_user_break(self._platform.user_break)
            for start, length, device in devices:
                processor.set_device(start, start + length, device)

    def _begin(self) -> None:
        """All processors begin at the image's entry; of a platform the first one, and firmware has the others."""
        for one in self._processors:
            one.processor.set_ip(self.program.image.elf.physical_entry)
            one.parked = self._platform is not None and one.number > 0
        if self._platform:
            self._platform.begin(self._processors[0].processor)

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
        if not self._begun:
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

    def _hint(self) -> str:
        """What an image lacks that does nothing but take interruptions."""
        alone = str(self.processor.machine_check).startswith(INTERRUPTIONS_ALONE)
        return NO_VECTORS if alone and not self.processor.cr(CR_IVA) else ""

    def _end_badly(self, text: str) -> None:
        ip = self.processor.ip
        place = place_of(LoadedObjects(self.program), ip & ~0xF)
        where = f"{ip:#x}" + (f" ({place})" if place else "")
        self._on_notice(f"{text}, at {where}")
        self._ending = ExitReport(ENDED_BADLY, 0, text, where)

    # The interface of firmware, simulator calls and platform (pal_call.py, simulator_calls.py, linux_platform.py):

    @property
    def console(self) -> Console:
        """What its user sees and types."""
        return self._platform.console if self._platform else self._console

    def finish(self, ending: ExitReport) -> None:
        """End the run."""
        self._ending = ending
        self.processor.request_stop()

    def is_between_calls(self) -> bool:
        """Whether no processor is in a call of firmware, whose rest a snapshot has not."""
        return all(one.pal.is_between_calls for one in self._processors) and (
            self._platform is None or self._platform.is_between_calls
        )

    def ready(self) -> bool:
        """The system is ready for a program: it goes on with a turn that begins here, whether it has booted or comes
        from a snapshot, and with empty ALATs; unless a snapshot was wanted."""
        self._turn_over = True
        for one in self._processors:
            one.processor.begin_turn()
        if self._system.boot and self._system.boot.snapshot:
            self._take_snapshot()
            return False
        return True

    def want_snapshot(self) -> None:
        """Take a snapshot before the next instruction at which no processor is in a call of firmware."""
        assert self._snapshots
        self._snapshots.is_due = True
        self.processor.request_stop()

    def _say_missing(self) -> None:
        """The run ends: a snapshot that was wanted and is not there is said, and no success."""
        missing = self._snapshots.missing if self._snapshots else ""
        if missing:
            self._on_notice(missing)
            if self._ending and not self._ending.status:
                self._ending = ExitReport(ENDED_BADLY, 0, missing)

    def _take_snapshot(self) -> None:
        assert self._snapshots
        if self._current.clock:
            self._current.clock.read()
        self._on_notice(self._snapshots.take(self._current.number))
        self.finish(ExitReport(0))

    @property
    def nanoseconds(self) -> int:
        """The system's time since 1970: the interval timer's, of which the processor's frequency is known."""
        if self._current.clock:
            self._current.clock.read()
        return self._settings.epoch * 10**9 + self._current.time * 1000 // self._system.processor.frequency

    def begin_program(self) -> None:
        """The current task is about to execute the program: the stream begins, if it has not yet."""
        if self._tasks:
            self._tasks.switches.begin_program(self._current.number)
        self._begun = True
        if self._consumer is not self._reader:
            self._uncounted = self.retired
            self._consumer = self._reader
            self._turns = [(0, self._current.number)]
            for one in self._processors:
                one.drop_marks()
            if self._current.number:
                self.emit_mark(Mark.THREAD, self._current.number)
            self.processor.restart_stream(self._reader)
        if self._tasks:
            self._tasks.mark(self._current, self._consumer)

    def end_program(self) -> None:
        """The program has ended: the stream does, if it began with it."""
        if not self._system.from_boot and self._consumer is self._reader:
            self._counted = self.retired
            self._consumer = Consumer()

    def exit(self, status: int) -> None:
        """End the run with a status."""
        self._ending = ExitReport(status)

    def shut_down(self) -> None:
        """End the run: the system has switched itself off."""
        self.exit(0)

    def halt(self) -> None:
        """Let the processor wait for an interrupt."""
        self._current.halt()

    def emit_mark(self, kind: Mark, value: int) -> None:
        """Put a mark into the stream of the processor that executes."""
        self.processor.emit_mark(self._consumer, kind, value)

    def copy_code(self, address: int) -> bool:
        """Copy PAL's code to a physical address."""
        return self.memory.write(address, self._code)

    def has_memory(self, address: int, length: int) -> bool:
        """Whether there is memory at all of these physical addresses."""
        return self.memory.has(address, length)

    def write_memory(self, address: int, content: bytes) -> bool:
        """Write physical memory."""
        return self.memory.write(address, content)

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
