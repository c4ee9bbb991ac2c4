"""A system image on the IA-64 engine: the loop between the processor, its firmware, its devices and the PMU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self, cast

from pfmon.engine.api import Capabilities, ExitReport, StartRequest
from pfmon.engine.guest_pmu import PerformanceData, SystemPmu
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import BREAK, CHECK, PMD, AddressSpace, SystemProcessor
from pfmon.engine.ia64.registers.cpuid import cpuid
from pfmon.engine.ia64.system import simulator_calls
from pfmon.engine.ia64.system.console import Console
from pfmon.engine.ia64.system.devices import interrupt_block
from pfmon.engine.ia64.system.devices.interrupt_block import InterruptBlock
from pfmon.engine.ia64.system.devices.uart import REGISTERS, Uart
from pfmon.engine.ia64.system.firmware.pal_call import Pal
from pfmon.engine.ia64.system.firmware.pal_entry import CALL_BREAK, WORD_BREAK, PalEntry, stubs
from pfmon.engine.ia64.system.guest_pmu import GuestPmu
from pfmon.engine.ia64.system.physical_memory import PhysicalMemory
from pfmon.engine.ia64.system.system_clock import SystemClock
from pfmon.engine.ia64.system.translation_sizes import PAGE_SIZES, SIZES, TranslationSizes
from pfmon.engine.system_settings import SystemSettings
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
RESET_FRAME = 96
"""CFM.sof when firmware begins: all stacked registers are there (volume 2, 11.2.2)."""
PROCESSOR_ID, PAL_PROC, SELF_TEST = 33, 34, 35
"""General registers with the processor's number, PAL's entry point and 0 for a healthy processor (11.2.2)."""
ENDED_BADLY = 125

Factory = Callable[..., SystemProcessor]


def _processor(memory: AddressSpace, *, max_block: int, trace: bool) -> SystemProcessor:
    return SystemProcessor(memory, max_block=max_block, trace=trace)


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
    """One image on one processor. ``model``: the processor (cpuid.py); ``slow``: every instruction is a block;
    ``trace``: the stream has memory addresses. PfmonError: the image does not fit into the memory."""

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
        make: Factory | None = None,
    ) -> None:
        """``make``: gives the processor, None: the engine's."""
        self.program = program
        self._system, self._settings, self._on_notice = system, settings, on_notice
        self._console = Console(settings.standard_files, on_notice)
        self.memory = PhysicalMemory(system.memory)
        self.memory.load(program.image)
        _check_uart(system)
        made = (make or _processor)(self.memory.space, max_block=1 if slow else LONGEST_BLOCK, trace=trace)
        self.processor: SystemProcessor = made
        self.processor.set_cpuid(cpuid(model))
        self._platform = self._make_platform()
        ours = [simulator_calls.BREAK, CALL_BREAK, WORD_BREAK]
        self.processor.set_reserved_breaks([*ours, *(self._platform.reserved_breaks if self._platform else ())])
        self._set_geometry(SIZES[model])
        self._place_devices()
        self._code = stubs()
        self.memory.write(self.memory.firmware, self._code)
        pal = Pal(system.processor, SIZES[model], self, len(self._code))
        self._pal = PalEntry(pal, self.processor)
        self._reset()
        self._consumer = Consumer()
        self._clock: SystemClock | None = None
        self._halted = 0
        """Time of ITC that passed while the processor was halted."""
        self._ending: ExitReport | None = None
        self._stopping = False
        self._unknown: set[int] = set()

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

    def _make_platform(self) -> LinuxPlatform | None:
        """What a Linux kernel boots on; None: the image brings its own."""
        if self._system.boot is None:
            return None
        from pfmon.engine.ia64.system.platform.linux_platform import LinuxPlatform

        image, settings = self.program.image, self._settings
        platform = LinuxPlatform(self, self.memory, image, self._system, settings, self._on_notice)
        self.processor.set_user_break(platform.user_break)
        return platform

    instruction_set = InstructionSet.IA64
    capabilities = Capabilities(addresses=True, performance_data=True, takes_turns=True, system=True)
    functions: Sequence[GuestFunction] = ()
    """No Python functions are marked."""
    mapped: Sequence[MappedFile] = ()
    """All code is the image's, as far as it has names."""
    threads: Sequence[tuple[int, int]] = ((0, 0),)
    """One processor."""

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
        """Instructions retired so far."""
        return self.processor.retired

    @property
    def ip(self) -> int:
        """Bundle address | slot of the next instruction."""
        return self.processor.ip

    def _set_geometry(self, sizes: TranslationSizes) -> None:
        """Translation as the processor has it; its caches are those of the last level."""
        tlbs = self._system.processor.tlbs
        last = {one.kind: one.entries for one in sorted(tlbs, key=lambda one: one.level)}
        self.processor.set_geometry(
            registers=(sizes.itrs, sizes.dtrs),
            cache=(last["instruction"], last["data"]),
            page_sizes=PAGE_SIZES,
            va_msb=sizes.virtual_msb,
            pa_bits=sizes.physical_bits,
            rid_bits=sizes.rid_bits,
        )

    def _place_devices(self) -> None:
        block = InterruptBlock(self.processor)
        self.processor.set_device(interrupt_block.ADDRESS, interrupt_block.ADDRESS + interrupt_block.BYTES, block)
        uart = self._system.uart
        if self._platform:
            self._platform.place_devices(self.processor, block)
        elif uart is not None:
            self.processor.set_device(uart, uart + REGISTERS, Uart(self.console))

    def _reset(self) -> None:
        """Set the registers as at reset (volume 2, 11.2.2); the frame has all stacked registers."""
        processor = self.processor
        processor.set_cfm(RESET_FRAME)
        processor.set_gr(PROCESSOR_ID, 0)
        processor.set_gr(PAL_PROC, self.memory.firmware)
        processor.set_gr(SELF_TEST, 0)
        processor.set_ip(self.program.image.elf.physical_entry)
        if self._platform:
            self._platform.begin(processor)

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """Nothing: PSR is the system's, and counters that it may read are its own (--guest-pmu)."""

    def set_clock(self, cycles_before: Callable[[int], int]) -> None:
        """Let ITC count the cycles of the machine that reads the stream: ``cycles_before`` gives those until the
        instruction at an address, which is the next one. Without, it counts instructions."""
        self._clock = SystemClock(self.processor, cycles_before)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Run until the image ends, or `stop` (None). ``performance_data``: with --guest-pmu, the system's PMU."""
        self._consumer = consumer
        given = cast(SystemPmu | None, performance_data) if self._system.guest_pmu else None
        pmu = None if given is None else GuestPmu(given, self.processor)
        try:
            while self._ending is None and not self._stopping:
                self._run_until_event(pmu)
        finally:
            self.console.close()
        if self._stopping:
            return None
        assert self._ending is not None
        self.processor.emit_mark(consumer, Mark.EXIT, self._ending.status)
        return self._ending

    def _run_until_event(self, pmu: GuestPmu | None) -> None:
        processor, clock = self.processor, self._clock
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

    def _access(self, pmu: GuestPmu | None) -> None:
        """Do what an instruction waits for that accesses a performance register, or the clock."""
        if self.processor.pmu_access[0] == "use_clock":
            assert self._clock
            self._clock.access()
        elif pmu:
            pmu.access()

    def _break(self, immediate: int) -> None:
        if immediate == simulator_calls.BREAK:
            self._simulator_call()
        elif self._platform and immediate not in (CALL_BREAK, WORD_BREAK):
            self._platform.take(immediate, self.processor)
        elif self.processor.level:  # the firmware is for level 0 alone (volume 2, 11.10.2.2)
            self._end_badly("machine check: PAL's code executed at a level other than 0")
        else:
            self._pal.take(immediate)

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

    @property
    def nanoseconds(self) -> int:
        """The system's time since 1970: the interval timer's, of which the processor's frequency is known."""
        if self._clock:
            self._clock.read()
        executed = self._clock.cycles if self._clock else self.processor.retired
        return self._settings.epoch * 10**9 + (executed + self._halted) * 1000 // self._system.processor.frequency

    def exit(self, status: int) -> None:
        """End the run with a status."""
        self._ending = ExitReport(status)

    def shut_down(self) -> None:
        """End the run: the system has switched itself off."""
        self.exit(0)

    def halt(self) -> None:
        """Let time pass until the timer's interrupt pends, also with PSR.i = 0. Nothing else can wake the processor."""
        processor = self.processor
        if self._clock:
            self._clock.read()
        if processor.interrupt_pending:
            return
        timer = processor.next_timer
        if timer is not None:
            time = max(0, timer - processor.retired)
            if self._platform:
                self._platform.halted(time * 1000 // self._system.processor.frequency)
                if processor.interrupt_pending:
                    return
            self._halted += time
            processor.advance_time(time)
            self._mark_halted(time)
        if not processor.interrupt_pending:
            self._end_badly("the processor is halted, and no interrupt can wake it")

    def _mark_halted(self, time: int) -> None:
        """Put cycles of a halted processor into the stream (CYCLES_HALTED)."""
        pieces, rest = divmod(time, 1 << 16)
        for kind, value in ((Mark.HALTED_LONG, pieces), (Mark.HALTED, rest)):
            while value:
                part = min(value, (1 << 16) - 1)
                self.processor.emit_mark(self._consumer, kind, part)
                value -= part

    def flush_caches(self, kind: int, invalidates: bool) -> None:
        """Put a flush of caches into the stream, for a machine."""
        self.processor.emit_mark(self._consumer, Mark.CACHE_FLUSH, kind | invalidates << 3)

    def copy_code(self, address: int) -> bool:
        """Copy PAL's code to a physical address."""
        return self.memory.write(address, self._code)

    def has_memory(self, address: int, length: int) -> bool:
        """Whether there is memory at all of these physical addresses."""
        return self.memory.has(address, length)

    def write_memory(self, address: int, content: bytes) -> bool:
        """Write physical memory."""
        return self.memory.write(address, content)

    def translation_register(self, is_data: bool, number: int) -> tuple[int, int, int, int] | None:
        """A translation register as it was inserted."""
        return self.processor.translation_register(is_data, number)

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address | slot and text of every instruction in a range of code, as the image's file has it."""
        return listing(LoadedObjects(self.program).bundle, first, beyond)

    def stop(self) -> None:
        """Make ``run`` return soon: from any thread, or from a signal handler."""
        self._stopping = True
        self.processor.request_stop()

    def close(self) -> None:
        """Free the memory, and give the terminal back."""
        if self._platform:
            self._platform.close()
        self.console.close()
        self.memory.space.clear()
