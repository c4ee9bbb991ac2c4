"""A system on the IA-64 engine, as its firmware, its platform, its snapshots and simulator calls reach it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from pfmon.engine.api import ExitReport
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import AddressSpace, SystemProcessor
from pfmon.engine.ia64.system import simulator_calls
from pfmon.engine.ia64.system.console import Console
from pfmon.engine.ia64.system.coupled_turns import CoupledTurns
from pfmon.engine.ia64.system.devices import interrupt_block
from pfmon.engine.ia64.system.devices.interrupt_block import InterruptBlock
from pfmon.engine.ia64.system.devices.uart import REGISTERS, Uart
from pfmon.engine.ia64.system.drawn_times import DrawnTimes
from pfmon.engine.ia64.system.firmware.pal_entry import CALL_BREAK, WORD_BREAK, stubs
from pfmon.engine.ia64.system.firmware.pal_processor import HIGHEST_POLICY
from pfmon.engine.ia64.system.logical_processor import LogicalProcessor
from pfmon.engine.ia64.system.physical_device import PlacedDevice
from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.snapshots.guest_snapshots import GuestSnapshots
from pfmon.engine.ia64.system.snapshots.kept_fields import Keeper, Range
from pfmon.engine.ia64.system.tasks.task_layout import KernelMemory
from pfmon.engine.ia64.system.tasks.task_switches import TaskSwitches
from pfmon.engine.ia64.system.tasks.watched_tasks import WatchedTasks
from pfmon.engine.system_settings import SystemSettings, TaskSettings
from pfmon.errors import PfmonError
from pfmon.isa.ia64 import instruction_set  # noqa: F401 - listings after the run
from pfmon.program.image import Program
from pfmon.program.loaded_objects import LoadedObjects, place_of
from pfmon.stream._stream import BlockTable, Consumer, Mark

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


class SystemHost:
    """One image in memory, with its processors, firmware, devices and platform. ``model``: the processor
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
        """Return the object that follows the tasks of a kernel; None: no option or snapshot needs them. Handlers
        set PSR.pp, if options or a snapshot tell them apart."""
        takes_snapshot = self._system.boot is not None and bool(self._system.boot.snapshot)
        marks_handlers = self._system.marks_handlers or takes_snapshot
        if marks_handlers:
            for one in self._processors:
                one.processor.mark_handlers()
        if self._system.tasks is None and not takes_snapshot:
            return None
        return WatchedTasks(self._switches, self._processors, keeps_pp=marks_handlers)

    def _make_platform(self) -> LinuxPlatform | None:
        """Return the platform of a Linux kernel; None: another image brings its own."""
        if self._system.boot is None:
            return None
        from pfmon.engine.ia64.system.platform.linux_platform import LinuxPlatform

        return LinuxPlatform(self, self.memory, self.program.image, self._system, self._settings, self._on_notice)

    def _make_snapshots(self, model: str) -> GuestSnapshots | None:
        """Return the object that takes and restores snapshots; None: the image has no platform."""
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

    @property
    def processor(self) -> SystemProcessor:
        """The processor that executes."""
        return self._current.processor

    @property
    def retired(self) -> int:
        """Instructions retired so far, of all processors, from where the stream begins."""
        if self._counted:
            return self._counted
        return sum(one.processor.retired for one in self._processors) - self._uncounted

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
                if self._platform.code:
                    processor.set_executable_files(self._platform.code.index)
            for start, length, device in devices:
                processor.set_device(start, start + length, device)

    def _begin(self) -> None:
        """All processors begin at the image's entry; of a platform the first one, and firmware has the others."""
        for one in self._processors:
            one.processor.set_ip(self.program.image.elf.physical_entry)
            one.parked = self._platform is not None and one.number > 0
        if self._platform:
            self._platform.begin(self._processors[0].processor)

    def _hint(self) -> str:
        """Return why an image takes nothing but interruptions: it has no vector table; "": it has one."""
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
        """The console of the platform, or of an image without one."""
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
