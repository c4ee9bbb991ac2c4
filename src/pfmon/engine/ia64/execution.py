"""One program in one process: its memory, its processor, and the reader of its stream."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from pfmon.engine.api import Capabilities, ExitReport, Task, TaskReader
from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.guest_pmu import PerformanceData, ProgramPmu
from pfmon.engine.ia64._ia64 import AddressSpace, Processor
from pfmon.engine.ia64.crash_report import describe, report
from pfmon.engine.ia64.registers.cpuid import cpuid
from pfmon.engine.linux.process.engine_interface import Death, End
from pfmon.engine.linux.process.process import Process
from pfmon.isa.ia64 import instruction_set  # noqa: F401 - for the notice of a death by a signal
from pfmon.isa.ia64.disassemble import listing
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.image import Program
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet, Mark


class Execution:
    """An engine that runs in turns with others; the guest decides which one runs."""

    instruction_set = InstructionSet.IA64
    capabilities = Capabilities(addresses=True, performance_data=True, follows=True, takes_turns=True, regions=True)

    def __init__(
        self, memory: AddressSpace, program: Program, processor: str, slow: bool, trace: bool, regions: bool = False
    ) -> None:
        """``processor``: value of cpuid; ``slow``: every instruction is a block; ``trace``: with addresses;
        ``regions``: with the program's marks of regions."""
        self.memory = memory
        self.program = program
        self.processor = Processor(memory, max_block=1 if slow else 96, trace=trace, regions=regions)
        self._regions = regions
        self.processor.set_cpuid(cpuid(processor))
        self.process: Process | None = None
        self.task: Task | None = None
        self.consumer = Consumer()
        self.performance_data: PerformanceData | None = None
        self._thread = 0
        self._noted = False
        self._monitoring: tuple[bool, bool] | None = None
        self._watch: TaskReader | None = None
        self._running = ExitStack()

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

    functions: Sequence[GuestFunction] = ()
    """No Python functions are marked."""

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files that the program has mapped executable so far."""
        return self._mapped if self.process is None else self.process.mappings.code.files

    def set_process(self, process: Process) -> None:
        """Set the process that executes this program."""
        self.process = process
        self.threads = [(0, process.process_id)]

    def set_reader(self, watch: TaskReader) -> None:
        """Set the reader of its stream, from here on."""
        self._watch = watch
        self._running.enter_context(watch.running)
        self.consumer = watch.consumer

    def set_pmu(self, pmu: ProgramPmu) -> None:
        """Let this PMU, which the program programs, count from here on."""
        self._running.enter_context(pmu.running)
        self.consumer, self.performance_data = pmu.consumer, pmu

    def notify_thread(self, place: int, number: int, before: int) -> None:
        """A thread switch: the thread at ``place``, with this ``number``, runs from here on; ``before``: user mask of
        the previous one."""
        if self._monitoring is not None:  # a child inherits registers, but not monitors
            self.set_monitoring(*self._monitoring)
            self._monitoring = None
            return
        if place != self._thread:
            self._thread = place
            self.threads.append((self.retired, number))
            self.mark(Mark.THREAD, place)
            if (self.processor.um ^ before) & PSR_UP:
                self.mark(Mark.MODE, self.processor.um)

    def mark(self, kind: Mark, value: int) -> None:
        """Put a mark into the stream between two runs."""
        self.processor.emit_mark(self.consumer, kind, value)

    def note_region_call(self, number: int) -> None:
        """Mark a region that a system call of this number starts or stops: one that writes to file -1."""
        processor = self.processor
        if not self._regions or number not in (WRITE, PWRITE64) or processor.out_argument(0) & 0xFFFFFFFF != NO_FILE:
            return
        try:
            text = self.memory.read(processor.out_argument(1), min(processor.out_argument(2), MAX_REGION_CALL))
        except GuestMemoryFault:
            return
        for word in REGION_CALLS:
            if text.startswith(word):
                name = text.removeprefix(word).rstrip(b"\n\0")
                processor.emit_region_mark(self.consumer, word == REGION_CALLS[0], name)

    def note_unaligned(self, process: Process) -> None:
        """Report unaligned references: Linux completes each in its handler, in some thousand cycles."""
        if self._noted or process.unaligned:
            return
        self._noted = True
        _, address, ip = self.processor.unaligned
        name = process.thread.name.decode(errors="replace")
        process.notice(
            f"{name}({process.process_id}): unaligned access to {address:#x}, ip={ip:#x}; the operating "
            "system completes such accesses, slowly"
        )

    def finish(self, end: End | None) -> ExitReport | None:
        """End the program and notify its reader (None: another program is executed in its place)."""
        ending = None
        if end is not None:
            self.mark(Mark.EXIT, end.status)
            ending = self._ending(end)
        self._mapped: Sequence[MappedFile] = list(self.mapped)
        self._running.close()
        if self._watch is not None:
            self._watch.ended(ending, self.retired)
        self.process = self._watch = None
        return ending

    def abandon(self) -> None:
        """Drop the readers after a failed or finished run: a reader may refer back to the engine."""
        self._running.close()
        self._watch = self.performance_data = None
        self.consumer = Consumer()

    def _ending(self, end: End) -> ExitReport:
        if not isinstance(end, Death):
            return ExitReport(end.status)
        objects = LoadedObjects(self.program, lambda: self.mapped)
        where = describe(objects, self.memory, self.processor.ip)
        text = report(self.process, self.processor, objects, end.text) if self.process else ""
        return ExitReport(end.status, end.signal, end.text, where, text)

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address | slot and text of every instruction in a range of code."""
        objects = LoadedObjects(self.program, lambda: self.mapped)

        def bundle(address: int) -> bytes:
            try:
                return self.memory.read(address, 16)
            except GuestMemoryFault:  # a shared object that is no longer mapped
                return objects.bundle(address)

        return listing(bundle, first, beyond)

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """PSR.up and PSR.sp as the program finds them."""
        if self.task is not None and len(self.task.process) > 1:
            self._monitoring = (on, locked)
        um = self.processor.um
        self.processor.set_um(um | PSR_UP if on else um & ~PSR_UP)
        self.processor.set_secure(locked)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Not supported: the guest runs it in turn."""
        raise ValueError("a task runs as it is followed")

    def stop(self) -> None:
        """Stop its processor; the guest stops the run."""
        self.processor.request_stop()

    def close(self) -> None:
        """Free the memory."""
        self.memory.clear()


PSR_UP = 1 << 2
WRITE, PWRITE64 = 1027, 1149
"""Numbers of system calls (Linux for IA-64, asm/unistd.h)."""
NO_FILE = 0xFFFFFFFF
"""Descriptor -1."""
REGION_CALLS = (b"pfmon:start ", b"pfmon:stop ")
MAX_REGION_CALL = 80
"""Bytes of a call's text, at most: one with more has no valid name."""
