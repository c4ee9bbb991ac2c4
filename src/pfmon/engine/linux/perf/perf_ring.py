"""The memory mapped from a perf event: a page that describes the counter, and a ring of records (Linux 6.1,
<linux/perf_event.h>, struct perf_event_mmap_page)."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.perf.monitored_process import RingMemory

# version compat lock index | offset enabled running capabilities | width, of time: shift mult offset zero | size
PAGE = Struct("<IIIIqQQQHHIQQI4x")
HEAD, TAIL = 1024, 1032
GEOMETRY = Struct("<2Q")  # at 1040: where the data begins, and its size
GEOMETRY_PLACE = 1040
CAP_BIT0_IS_DEPRECATED, CAP_USER_READS, CAP_USER_TIME = 2, 4, 8
WORD = (1 << 64) - 1
RECORD_HEADER = Struct("<IHH")  # type misc size
RECORD_LOST = 2
LOST = Struct("<2Q")


class MappedCounter(NamedTuple):
    """Contents of the first page: the number by which the counter is read at user level, if it counts, the offset to
    add, times in nanoseconds; ``clock``: the processor's clock now, if the program reads it in nanoseconds;
    ``readable``: the counter is read at user level whenever it counts."""

    counter: int | None
    offset: int
    enabled: int
    running: int
    clock: int | None = None
    readable: bool = False


class PerfRing:
    """One mapping. Without records (one page) it only describes the counter."""

    def __init__(self, memory: RingMemory) -> None:
        self.memory = memory
        self._page = memory.page_bytes
        self.size = memory.length - self._page
        self.head = 0
        self._unread = 0
        self.lost = 0
        self._write(GEOMETRY_PLACE, GEOMETRY.pack(self._page, self.size))
        self._write(HEAD, U64.pack(0) * 2)

    @property
    def is_mapped(self) -> bool:
        """Whether it is still mapped at its address."""
        return self.memory.is_mapped

    @property
    def is_read(self) -> bool:
        """Whether the program has read all records."""
        return self._tail == self.head

    @property
    def _tail(self) -> int:
        """The position up to which records may be overwritten: a read-only mapping has no reader to wait for."""
        if not self.memory.is_writable or not self.is_mapped:
            return self.head
        return int(U64.unpack(self.memory.read(TAIL, U64.size))[0])

    def describe(self, counter: MappedCounter, width: int) -> None:
        """Update the first page."""
        index = 0 if counter.counter is None else counter.counter + 1
        capabilities = CAP_BIT0_IS_DEPRECATED | (CAP_USER_READS if counter.readable else 0)
        multiplier = passed = 0
        if counter.clock is not None and index:
            capabilities, multiplier, passed = capabilities | CAP_USER_TIME, 1, -counter.clock & WORD
        page = PAGE.pack(
            *(0, 0, 0, index, _signed(counter.offset), counter.enabled, counter.running, capabilities),
            *(width, 0, multiplier, passed, 0, PAGE.size),
        )
        self._write(0, page)

    def put(self, record: bytes, event_id: int) -> bool:
        """Append a record, after one with the number of lost records, if any; False: no room, it is lost."""
        if self.lost:
            head = RECORD_HEADER.pack(RECORD_LOST, 0, RECORD_HEADER.size + LOST.size)
            lost = head + LOST.pack(event_id, self.lost)
        else:
            lost = b""
        if self.head + len(lost) + len(record) - self._tail > self.size or not self.is_mapped:
            self.lost += 1
            return False
        if lost:
            self._append(lost)
            self.lost = 0
        self._append(record)
        self._write(HEAD, U64.pack(self.head))
        self._unread += len(record)
        return True

    def due(self, watermark: int) -> bool:
        """Whether ``watermark`` bytes were added since the last time."""
        if self._unread < watermark:
            return False
        self._unread = 0
        return True

    def _append(self, record: bytes) -> None:
        at = self.head % self.size
        first = record[: self.size - at]
        self._write(self._page + at, first)
        if len(first) < len(record):
            self._write(self._page, record[len(first) :])
        self.head += len(record)

    def _write(self, offset: int, data: bytes) -> None:
        if self.is_mapped:
            self.memory.write(offset, data)


def _signed(value: int) -> int:
    value &= WORD
    return value - (value >> 63 << 64)
