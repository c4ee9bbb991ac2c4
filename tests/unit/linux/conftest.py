"""A process whose system calls tests make directly, through its registers and memory."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from perfmon_calls import INST, NOTIFY, Perfmon, counter, register
from stand_in_pmu import StandIn

from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import AddressSpace, Processor
from pfmon.engine.linux import kernel
from pfmon.engine.linux.abi.ia64.ia64_abi import IA64
from pfmon.engine.linux.abi.ia64.syscall_numbers import NUMBERS
from pfmon.engine.linux.process import process_exit
from pfmon.engine.linux.process.engine_interface import End
from pfmon.program import image

EXAMPLES = Path(__file__).parents[3] / "examples"
SCRATCH = 0x2000000100000000  # a megabyte that tests use as they like
SCRATCH_SIZE = 1 << 20


class Guest:
    """A started process and what a test needs of it."""

    def __init__(self, settings: GuestSettings, limit: int = 1 << 30) -> None:
        self.memory = AddressSpace(limit)
        self.registers = Processor(self.memory)
        program = image.load(str(EXAMPLES / "ia64" / "fib"))
        self.said: list[str] = []  # what the process tells the user
        arguments, environment = [b"./fib", b"7"], [b"HOME=/"]
        self.process = kernel.first_process(
            program, arguments, environment, settings, self.memory, self.registers, IA64, self.said.append
        )
        self.process.processor = "itanium2"
        self.process.start()
        self.memory.map(SCRATCH, SCRATCH_SIZE, 3)
        self.scratch = SCRATCH
        self.end: End | None = None

    def call(self, name: str | int, *arguments: int) -> int:
        """Make a system call: its result, or minus the error number."""
        r = self.registers
        r.set_cfm(6)
        for i in range(6):
            r.set_gr(32 + i, arguments[i] & (1 << 64) - 1 if i < len(arguments) else 0)
        r.set_gr(15, NUMBERS[name] if isinstance(name, str) else name)
        self.end = kernel.system_call(self.process)
        while (thread := self.process.thread).wait is not None:
            assert self.process.system.schedule.next() is thread
            self.end = kernel.system_call(self.process)
        value = r.gr(8)
        assert r.gr(10) in (0, (1 << 64) - 1)
        return -value if r.gr(10) else value

    def put(self, data: bytes, offset: int = 0) -> int:
        """Write to scratch memory; returns the address."""
        self.memory.write(SCRATCH + offset, data)
        return SCRATCH + offset

    def text(self, path: str | Path | bytes, offset: int = 0) -> int:
        """A zero-terminated string in scratch memory."""
        return self.put((path if isinstance(path, bytes) else str(path).encode()) + b"\0", offset)

    def get(self, length: int, offset: int = 0) -> bytes:
        return self.memory.read(SCRATCH + offset, length)

    def words(self, count: int, offset: int = 0) -> tuple[int, ...]:
        return struct.unpack(f"<{count}Q", self.get(8 * count, offset))

    def open(self, path: str | Path, flags: int = 0, mode: int = 0o644) -> int:
        return self.call("openat", -100, self.text(path, 0x80000), flags, mode)


@pytest.fixture
def settings() -> GuestSettings:
    return GuestSettings()


@pytest.fixture
def new_guest() -> Callable[[], Guest]:
    """Makes processes, for tests that need many."""
    return lambda: Guest(GuestSettings(stack_size=1 << 20, backing_store_size=1 << 20), limit=1 << 27)


@pytest.fixture
def guest(settings: GuestSettings) -> Iterator[Guest]:
    guest = Guest(settings)
    yield guest
    process_exit.close(guest.process)


@pytest.fixture
def pmu() -> StandIn:
    """The PMU of a program that monitors itself, as far as such a test asks for it."""
    return StandIn()


@pytest.fixture
def perfmon(guest: Guest, pmu: StandIn) -> Perfmon:
    """A process that makes perfmonctl calls, on that PMU."""
    guest.process.pmu = pmu
    return Perfmon(guest)


@pytest.fixture
def loaded(perfmon: Perfmon) -> int:
    """A context that counts in PMD4, with a notification."""
    fd = perfmon.create()
    assert perfmon.write_pmcs(fd, register(4, INST, flags=NOTIFY)) == 0
    assert perfmon.write_pmds(fd, counter(4, 100)) == 0
    assert perfmon.load(fd) == 0
    return fd
