"""A process of the emulated kernel (linux/process/process.py) with perf events."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pfmon.engine.guest_pmu import ProgramPmu
from pfmon.engine.linux.perf.perf_attributes import READABLE, WRITABLE
from pfmon.engine.linux.process.process import Process


class KernelProcess:
    """A `MonitoredProcess` whose events are updated while it stands between two instructions."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def pmu(self) -> ProgramPmu | None:
        """Its PMU."""
        return self._process.pmu

    @property
    def task(self) -> tuple[int, int]:
        """Process and running thread."""
        return self._process.process_id, self._process.thread.number

    def used(self) -> int:
        """Its processor time."""
        return self._process.clock.processor()

    def now(self) -> int:
        """The monotonic clock's time."""
        return self._process.clock.monotonic()

    clock: int | None = None
    """Not described to programs."""

    def time_since(self, retired: int) -> int:
        """The processor time since that many instructions had retired."""
        return (self._process.registers.retired - retired) * self._process.settings.nanoseconds_per_instruction

    def instructions_until(self, used: int) -> int:
        """How many instructions have retired when it has used that processor time."""
        return self._process.clock.instructions_until(used)

    def all_registers(self, values: Mapping[str, int]) -> dict[str, int]:
        """All configuration registers."""
        return self._process.abi.perf_registers(self._process.processor, values)

    def stop_counter(self, counter: int) -> None:
        """Let a counter count nothing from the next instruction on."""
        assert self._process.pmu
        self._process.abi.stop_counter(self._process.pmu, counter)

    def read_index(self, counter: int) -> int:
        """The number of its PMD."""
        return counter

    def allow_reads(self, allowed: bool) -> None:
        """Set whether the program may read counters."""
        self._process.abi.allow_monitoring(self._process.registers, allowed)

    def report(self, tell: Callable[[], object]) -> None:
        """Tell the program at once."""
        tell()


class KernelRingMemory:
    """A mapping in the process's memory."""

    def __init__(self, process: Process, start: int, length: int, protection: int) -> None:
        self._memory = process.memory
        self._start, self.length = start, length
        self._rights = protection | (READABLE if protection & WRITABLE else 0)
        self.page_bytes = process.memory.page_size
        self.is_writable = bool(self._rights & WRITABLE)

    @property
    def is_mapped(self) -> bool:
        """Whether it is still mapped at its address."""
        end = self._start + self.length
        return any(
            low <= self._start and end <= high and allowed == self._rights
            for low, high, allowed in self._memory.regions_map()
        )

    def read(self, offset: int, count: int) -> bytes:
        """Bytes from an offset on."""
        return self._memory.read(self._start + offset, count)

    def write(self, offset: int, data: bytes) -> None:
        """Write at an offset."""
        self._memory.write_initial(self._start + offset, data)
