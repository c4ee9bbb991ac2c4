"""A program running on the IA-64 engine under Linux: the loop between the processor and the system calls."""

from collections.abc import Sequence
from typing import Protocol

from pfmon.engine.ia64.core.identity import cpuid
from pfmon.engine.ia64.core.processor import BREAK, FAULT, PMD, Processor
from pfmon.engine.ia64.linux.interface import End
from pfmon.engine.ia64.linux.process import Process
from pfmon.engine.ia64.linux.settings import Settings
from pfmon.engine.ia64.memory.address_space import AddressSpace
from pfmon.program.image import Program
from pfmon.stream.marks import Mark
from pfmon.stream.consumer import Consumer

SYSTEM_CALL_BREAK = 0x100000
FAULT_BREAK = 16


class Interrupted(Exception):
    """Raised by a signal handler of the session to end a system call that waits."""


class Agenda(Protocol):
    """What is to be done while a program runs, at exact instructions."""

    def next_stop(self) -> int | None:
        """With how many instructions retired the next thing is to be done; None: never."""

    def reached(self) -> None:
        """Do it."""

    def read_pmd(self, number: int) -> int:
        """What the program reads from a performance data register (PSR.sp is clear)."""


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
    ) -> None:
        """Map the program and set its registers. Raises PfmonError."""
        self.memory = AddressSpace(memory_limit)
        self.processor = Processor(self.memory, max_block=1 if slow else 96, trace=trace)
        self.processor.set_cpuid(cpuid(processor))
        self.process = Process(program, arguments, environment, settings, self.memory, self.processor)
        self.process.start()
        self._stopping = False
        self._in_call = False

    def run(self, consumer: Consumer, agenda: Agenda | None = None) -> End | None:
        """Run to the program's end, or until ``stop`` was called (None).

        Timers are exact to the instruction, so that what ``agenda`` stops for does not change when signals come.
        """
        end: End | None = None
        while end is None and not self._stopping:
            timer = self.process.next_timer()
            due = agenda.next_stop() if agenda else None
            self.processor.stop_exactly_at(min((at for at in (timer, due) if at is not None), default=None))
            why = self.processor.run(consumer)
            if self._stopping:
                break
            reached = due is not None and self.processor.retired >= due
            if why == BREAK:
                end = self._break(consumer)
            elif why == FAULT:
                self.processor.emit_mark(consumer, Mark.FAULT, self.processor.fault)
                end = self._fault(self.processor.fault, self.processor.fault_address, self.processor.fault_code)
            elif why == PMD and agenda:
                self.processor.answer_pmd(agenda.read_pmd(self.processor.fault_info))
            elif timer is not None and self.processor.retired >= timer:
                end = self.process.pending_signals()
            if agenda and reached and end is None:  # what the stop's instruction caused is in the stream by now
                agenda.reached()
        if end is not None:
            self.processor.emit_mark(consumer, Mark.EXIT, end.status)
        return end

    def stop(self) -> None:
        """Make ``run`` return soon, from a signal handler; raises Interrupted during a system call."""
        self._stopping = True
        self.processor.request_stop()
        if self._in_call:
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
        self._in_call = True
        before = self.processor.um
        try:
            return self.process.system_call()
        except Interrupted:
            return None
        finally:
            self._in_call = False
            if self.processor.um != before:  # a return from a signal handler restores it
                self.processor.emit_mark(consumer, Mark.MODE, self.processor.um)

    def _fault(self, kind: int, address: int, code: int) -> End | None:
        return self.process.fault(kind, address, code)
