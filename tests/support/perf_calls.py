"""perf_event_open as a program calls it: its structure laid out by the offsets of <linux/perf_event.h>."""

import struct
from typing import Any, NamedTuple

from perfmon_calls import Caller

HARDWARE, SOFTWARE, TRACEPOINT, CACHE, RAW = 0, 1, 2, 3, 4
CYCLES, INSTRUCTIONS = 0, 1
DISABLED, INHERIT, PINNED, EXCLUDE_USER, EXCLUDE_KERNEL, FREQUENCY, WATERMARK = 1, 2, 4, 16, 32, 1 << 10, 1 << 14
ENABLED, RUNNING, ID, GROUP, LOST = 1, 2, 4, 8, 16
ENABLE, DISABLE, REFRESH, RESET, PERIOD, SET_OUTPUT = 0x2400, 0x2401, 0x2402, 0x2403, 0x40082404, 0x2405
GET_ID = 0x80082407
PAGE = 16384


def attribute(
    kind: int = HARDWARE,
    config: int = INSTRUCTIONS,
    *,
    period: int = 0,
    sample: int = 0,
    read_format: int = 0,
    flags: int = EXCLUDE_KERNEL,
    wakeup: int = 0,
    size: int = 112,
) -> bytes:
    """struct perf_event_attr in the size of PERF_ATTR_SIZE_VER5."""
    head = struct.pack("<II5QI", kind, size, config, period, sample, read_format, flags, wakeup)
    return head.ljust(max(size, 64), b"\0")


class Record(NamedTuple):
    """A record of a ring: its type, its misc, the words behind its header."""

    type: int
    misc: int
    words: tuple[int, ...]


class Perf:
    """The calls, on a process."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def open(
        self, data: bytes = b"", group: int = -1, task: int = 0, processor: int = -1, how: int = 0, **given: Any
    ) -> int:
        """An event: its descriptor, or minus the error number. ``how``: the call's own flags."""
        address = self.caller.put(data or attribute(**given))
        return self.caller.call("perf_event_open", address, task, processor, group, how)

    def ioctl(self, fd: int, request: int, argument: int = 0) -> int:
        return self.caller.call("ioctl", fd, request, argument)

    def words(self, fd: int, most: int = 64) -> tuple[int, ...]:
        """What read gives."""
        length = self.caller.call("read", fd, self.caller.put(bytes(8 * most)), 8 * most)
        assert length >= 0 and length % 8 == 0
        return struct.unpack(f"<{length // 8}Q", self.caller.get(length))

    def map(self, fd: int, pages: int, protection: int = 3) -> int:
        """Where its ring is, or minus the error number."""
        return self.caller.call("mmap", 0, (1 + pages) * PAGE, protection, 1, fd, 0)


def records(memory: Any, ring: int) -> list[Record]:
    """The records that wait in a ring, which are taken."""
    head, tail, first, size = struct.unpack("<4Q", memory.read(ring + 1024, 32))
    found = []
    while tail < head:
        data = b"".join(memory.read(ring + first + (tail + n) % size, 1) for n in range(8))
        kind, misc, length = struct.unpack("<IHH", data)
        body = b"".join(memory.read(ring + first + (tail + n) % size, 1) for n in range(8, length))
        found.append(Record(kind, misc, struct.unpack(f"<{len(body) // 8}Q", body)))
        tail += length
    memory.write(ring + 1032, struct.pack("<Q", tail))
    return found
