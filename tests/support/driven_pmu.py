"""A program on the engine whose PMU tests program, between any two of its instructions, with the system calls that it
would make itself."""

import errno
from types import TracebackType
from typing import Self

from guests import guest
from perfmon_calls import Perfmon

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.ia64._ia64 import BREAK
from pfmon.engine.linux.abi.ia64.perfmon import perfmonctl
from pfmon.engine.linux.calls import sys_memory as memory_calls
from pfmon.engine.linux.perf import perf_open
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.session.run.program_pmu import ProgramPmu
from pfmon.stream._stream import Mark

SCRATCH = 0x2000000100000000


class Driven:
    """An example program; it runs as far as the test wants. ``machine``: on the machine of its PMU."""

    def __init__(self, name: str, *arguments: str, pmu: str = "itanium2", machine: bool = False) -> None:
        self.guest = guest(name, arguments, trace=True)
        self.process = self.guest.process
        self.process.processor = pmu
        self.pmu = ProgramPmu(get(pmu), self.guest, load(pmu) if machine else None)
        self.process.pmu = self.pmu
        self.guest.first.consumer = self.pmu.consumer
        self.memory = self.guest.memory
        self.memory.map(SCRATCH, 1 << 16, 3)
        self.said: list[str] = []
        self.process.system._on_notice = self.said.append
        self.perfmon = Perfmon(self)
        self.over = False

    def __enter__(self) -> Self:
        self.pmu.running.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.guest.close()
        self.pmu.running.__exit__(kind, error, trace)
        if not error:
            self.pmu.finish()

    def call(self, name: str | int, *arguments: int) -> int:
        """A system call about the PMU, or close."""
        um = self.guest.processor.um
        try:
            if name == "perfmonctl":
                number, what, address, count = arguments
                perfmonctl.perfmonctl(self.process, number, what, address, count)
                return 0
            if name == "perf_event_open":
                return perf_open.perf_event_open(self.process, *arguments)
            if name == "ioctl":
                number, request, argument = arguments
                done = self.process.files.get(number).ioctl(self.process, request, argument)
                return -errno.ENOTTY if done is None else done
            if name == "mmap":
                return memory_calls.mmap(self.process, *arguments) or 0
            if name == "read":
                data = self.process.files.get(arguments[0]).read(arguments[2])
                self.memory.write(arguments[1], data)
                return len(data)
            assert name == "close"
            self.process.files.close(arguments[0])
            return 0
        except OSError as error:
            return -(error.errno or 0)
        except GuestMemoryFault:
            return -errno.EFAULT
        finally:
            if self.guest.processor.um != um:
                self.guest.processor.emit_mark(self.pmu.consumer, Mark.MODE, self.guest.processor.um)

    def put(self, data: bytes, offset: int = 0) -> int:
        self.memory.write(SCRATCH + offset, data)
        return SCRATCH + offset

    def get(self, length: int, offset: int = 0) -> bytes:
        return self.memory.read(SCRATCH + offset, length)

    def run_to(self, retired: int, looks: bool = False) -> None:
        """Run until so many instructions have retired; ``looks``: stop where the PMU wants it, and no further than the
        first overflow that the program is told of."""
        processor = self.guest.processor
        while processor.retired < retired and not self.over:
            processor.stop_exactly_at(retired)
            processor.stop_when_retired(self.pmu.next_poll() if looks else None)
            if processor.run(self.pmu.consumer) == BREAK:
                self.guest._break(self.process, self.guest.first)
                self.over = self.process.is_over
