"""A program running on the IA-64 engine under Linux: the loop between the processor and the system calls."""

from __future__ import annotations

from _thread import get_ident

from pfmon.engine.api import Capabilities, Ending
from pfmon.engine.ia64.core.identity import cpuid
from pfmon.engine.ia64.core.processor import BREAK, FAULT, PMD, Processor
from pfmon.engine.ia64.linux.errors import Interrupted
from pfmon.engine.ia64.linux.interface import Death
from pfmon.engine.ia64.linux.process import Process
from pfmon.engine.ia64.memory.address_space import AddressSpace, GuestMemoryFault
from pfmon.stream.table import InstructionSet
from pfmon.stream.words import Mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from pfmon.engine.api import PerformanceData, Start
    from pfmon.engine.ia64.linux.interface import End
    from pfmon.engine.settings import Settings
    from pfmon.program.image import Program
    from pfmon.program.mapped import Mapped
    from pfmon.stream.consumer import Consumer
    from pfmon.stream.table import BlockTable

SYSTEM_CALL_BREAK = 0x100000
PSR_UP = 1 << 2
FAULT_BREAK = 16


class Guest:
    """One process. ``memory_limit`` is in bytes; ``processor`` is what cpuid says (identity.py); ``slow`` makes
    every instruction a block of its own; ``trace`` puts memory addresses into the stream."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[bytes],
        environment: Sequence[bytes],
        settings: Settings,
        *,
        memory_limit: int,
        processor: str = "itanium2",
        slow: bool = False,
        trace: bool = False,
        on_notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Map the program and set its registers. Raises PfmonError."""
        self.memory = AddressSpace(memory_limit)
        self.processor = Processor(self.memory, max_block=1 if slow else 96, trace=trace)
        self.processor.set_cpuid(cpuid(processor))
        self.process = Process(program, arguments, environment, settings, self.memory, self.processor, on_notice)
        self.process.mappings.code.tell = self.processor.set_files
        self.process.start()
        self._program = program
        self._stopping = False
        self._calling = 0

    @classmethod
    def start(cls, wanted: Start) -> Self:
        """The engine for a session (engine/api.py)."""
        return cls(
            wanted.program,
            wanted.arguments,
            wanted.environment,
            wanted.settings,
            memory_limit=wanted.memory_limit,
            processor=wanted.processor,
            slow=wanted.slow,
            trace=wanted.addresses,
            on_notice=wanted.on_notice,
        )

    instruction_set = InstructionSet.IA64
    capabilities = Capabilities(addresses=True, performance_data=True)

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

    @property
    def mapped(self) -> Sequence[Mapped]:
        """The files that the program has mapped executable so far."""
        return self.process.mappings.code.files

    def set_monitoring(self, up: bool, secure: bool) -> None:
        """PSR.up and PSR.sp as the program finds them."""
        self.processor.set_um(self.processor.um | PSR_UP if up else self.processor.um & ~PSR_UP)
        self.processor.set_secure(secure)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> Ending | None:
        """Run to the program's end, or until ``stop`` was called (None). Timers are exact to the instruction."""
        end: End | None = None
        while end is None and not self._stopping:
            timer = self.process.next_timer()
            self.processor.stop_exactly_at(timer)
            why = self.processor.run(consumer)
            if self._stopping:
                break
            if why == BREAK:
                end = self._break(consumer)
            elif why == FAULT:
                self.processor.emit_mark(consumer, Mark.FAULT, self.processor.fault)
                end = self._fault(self.processor.fault, self.processor.fault_address, self.processor.fault_code)
            elif why == PMD:
                number = self.processor.fault_info
                self.processor.answer_pmd(performance_data.read_pmd(number) if performance_data else 0)
            elif timer is not None and self.processor.retired >= timer:
                end = self.process.pending_signals()
        if end is None:
            return None
        self.processor.emit_mark(consumer, Mark.EXIT, end.status)
        return self._ending(end)

    def _ending(self, end: End) -> Ending:
        if not isinstance(end, Death):
            return Ending(end.status)
        from pfmon.engine.ia64.place import describe  # only a program that dies needs symbols and a disassembler
        from pfmon.program.objects import Objects

        objects = Objects(self._program, lambda: self.mapped)
        return Ending(end.status, end.signal, end.text, describe(objects, self.memory, self.processor.ip))

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address | slot and text of every instruction in a range of code."""
        from pfmon.engine.ia64.encodings.listing import listing  # as above
        from pfmon.program.objects import Objects

        objects = Objects(self._program, lambda: self.mapped)

        def bundle(address: int) -> bytes:
            try:
                return self.memory.read(address, 16)
            except GuestMemoryFault:  # a shared object that is not there any more
                return objects.bundle(address)

        return listing(bundle, first, beyond)

    def stop(self) -> None:
        """Make ``run`` return soon: from any thread, or from a signal handler, where it raises Interrupted during a
        system call (of the host's, it may be one that waits and does not watch ``wakeup``)."""
        self._stopping = True
        self.processor.request_stop()
        self.process.wakeup.wake()
        if self._calling == get_ident():
            raise Interrupted

    def close(self) -> None:
        """Give back what the process holds of the host."""
        self.process.close()

    def _break(self, consumer: Consumer) -> End | None:
        immediate = self.processor.fault_info
        if immediate != SYSTEM_CALL_BREAK:
            self.processor.emit_mark(consumer, Mark.FAULT, FAULT_BREAK)
            return self._fault(FAULT_BREAK, self.processor.ip, immediate)
        self.processor.emit_mark(consumer, Mark.SYSTEM_CALL, self.processor.gr(15))
        self._calling = get_ident()
        before = self.processor.um
        try:
            return self.process.system_call()
        except Interrupted:
            return None
        finally:
            self._calling = 0
            if self.processor.um != before:  # a return from a signal handler restores it
                self.processor.emit_mark(consumer, Mark.MODE, self.processor.um)

    def _fault(self, kind: int, address: int, code: int) -> End | None:
        return self.process.fault(kind, address, code)
