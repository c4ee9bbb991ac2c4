"""The default sampling format: a mapped buffer that the kernel fills at overflows (Linux up to 5.9,
arch/ia64/kernel/perfmon_default_smpl.c)."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import NamedTuple

from pfmon.engine.linux.abi.ia64.layout import MAP_BASE, MAP_END
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_structures import BUFFER_ENTRY, BUFFER_HEADER, U64, VERSION
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.rlimits import RLIMIT_MEMLOCK
from pfmon.engine.linux.process.syscall_errors import fail

PROT_READ = 1
MAX_ENTRY_BYTES = BUFFER_ENTRY.size + 64 * U64.size
SMALLEST = BUFFER_HEADER.size + MAX_ENTRY_BYTES


class FormatEntry(NamedTuple):
    """A sample: the task (process, thread), the overflowed PMD, its last reset value, the instruction, the time, the
    values of PMDs."""

    task: tuple[int, int]
    pmd: int
    last_reset: int
    ip: int
    time: int
    values: Sequence[int]


class SamplingBuffer:
    """A buffer, mapped read-only into a process."""

    def __init__(self, process: Process, size: int) -> None:
        """OSError: too small (EINVAL), above the limit of locked memory, or no room (ENOMEM)."""
        if size < SMALLEST:
            fail(errno.EINVAL)
        page = process.memory.page_size
        self._length = (size + page - 1) & -page
        if self._length > process.limits.get(RLIMIT_MEMLOCK)[0]:
            fail(errno.ENOMEM)
        place = process.memory.find_free(self._length, MAP_BASE, MAP_END)
        if place is None:
            fail(errno.ENOMEM)
        process.memory.map(place, self._length, PROT_READ)
        self._memory = process.memory
        self.address = place
        self._size = size
        self._count = self._overflows = 0
        self._used = BUFFER_HEADER.size
        self._write_header()

    def add(self, entry: FormatEntry) -> bool:
        """Append a sample; returns whether the buffer is now full. A full buffer only counts the overflow."""
        if not self._is_full:
            process, thread = entry.task
            head = BUFFER_ENTRY.pack(thread, entry.pmd, entry.last_reset, entry.ip, entry.time, 0, 0, process)
            data = head + b"".join(U64.pack(value) for value in entry.values)
            self._write(self._used, data)
            self._count += 1
            self._used += len(data)
        full = self._is_full
        self._overflows += full
        self._write_header()
        return full

    def restart(self) -> None:
        """Empty the buffer."""
        self._count, self._used = 0, BUFFER_HEADER.size
        self._write_header()

    def unmap(self) -> None:
        """Unmap the buffer of a closed context."""
        if self._is_mapped:
            self._memory.unmap(self.address, self._length)

    @property
    def _is_full(self) -> bool:
        return self._size - self._used < MAX_ENTRY_BYTES

    @property
    def _is_mapped(self) -> bool:
        """Whether it is still mapped at its address: a program may have unmapped it."""
        end = self.address + self._length
        return any(
            low <= self.address and end <= high and allowed == PROT_READ
            for low, high, allowed in self._memory.regions_map()
        )

    def _write(self, offset: int, data: bytes) -> None:
        if self._is_mapped:
            self._memory.write_initial(self.address + offset, data)

    def _write_header(self) -> None:
        self._write(0, BUFFER_HEADER.pack(self._count, self._used, 0, self._overflows, self._size, VERSION, 0))
