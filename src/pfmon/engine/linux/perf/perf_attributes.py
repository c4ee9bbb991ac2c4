"""struct perf_event_attr: the event to count, and how it is reported (Linux 6.1, <linux/perf_event.h>)."""

from __future__ import annotations

import errno
from struct import Struct
from typing import Any, NamedTuple, Protocol

from pfmon.engine.linux.abi.structures import U32
from pfmon.engine.linux.process.syscall_errors import fail

# type size config period sample_type read_format flags | wakeup bp_type config1 config2 branches regs_user
# | stack_user clock regs_intr aux_watermark max_stack reserved aux_sample_size reserved sig_data
LAYOUT = Struct("<II5QII4QIiQIHHIIQ")
SMALLEST = 64
MAX_ATTRIBUTE_BYTES = 16384

DISABLED, INHERIT, PINNED, EXCLUSIVE, EXCLUDE_USER, EXCLUDE_KERNEL = (1 << place for place in range(6))
FREQUENCY, ENABLE_ON_EXEC, WATERMARK, SAMPLE_ID_ALL, USE_CLOCK = 1 << 10, 1 << 12, 1 << 14, 1 << 18, 1 << 25
WRITE_BACKWARD, AUX_OUTPUT, SIGTRAP = 1 << 27, 1 << 31, 1 << 37
FLAGS = (1 << 38) - 1

FORMAT_ENABLED, FORMAT_RUNNING, FORMAT_ID, FORMAT_GROUP, FORMAT_LOST = 1, 2, 4, 8, 16
FORMATS = 31
SAMPLES = (1 << 25) - 1
READABLE, WRITABLE = 1, 2
"""Rights of a mapping."""
HIGHEST_RATE = 100_000
"""Samples per second, at most (kernel.perf_event_max_sample_rate)."""


class ArgumentMemory(Protocol):
    """The memory that an argument points to. GuestMemoryFault or OSError: EFAULT."""

    def read(self, address: int, length: int) -> bytes:
        """Bytes of it."""

    def unpack(self, layout: Struct, address: int) -> tuple[Any, ...]:
        """A structure of it."""

    def pack(self, layout: Struct, address: int, *fields: Any) -> None:
        """Write a structure."""


class PerfEventAttr(NamedTuple):
    """The supported fields of an attribute. ``period`` is a frequency with FREQUENCY."""

    type: int
    config: int
    period: int
    sample_type: int
    read_format: int
    flags: int
    wakeup: int
    clock: int
    config1: int = 0

    @property
    def samples(self) -> bool:
        """Whether it samples."""
        return bool(self.period)

    @property
    def by_frequency(self) -> bool:
        """Whether ``period`` is a frequency."""
        return bool(self.flags & FREQUENCY)

    @property
    def levels(self) -> int:
        """The privilege levels that it counts at, a bit each."""
        user = 0 if self.flags & EXCLUDE_USER else 8
        return user | (0 if self.flags & EXCLUDE_KERNEL else 1)


def read_attributes(user: ArgumentMemory, address: int, most: int = MAX_ATTRIBUTE_BYTES) -> PerfEventAttr:
    """The attribute at an address, of any version, of ``most`` bytes: a page. OSError: EINVAL; E2BIG for a size or
    fields unknown to Linux 6.1: the known size is then written to the attribute."""
    size = int(user.unpack(U32, address + 4)[0]) or SMALLEST
    if not SMALLEST <= size <= most:
        _too_big(user, address)
    data = user.read(address, size)
    if any(data[LAYOUT.size :]):
        _too_big(user, address)
    found = LAYOUT.unpack(data[: LAYOUT.size].ljust(LAYOUT.size, b"\0"))
    kind, _, config, period, sample_type, read_format, flags, wakeup = found[:8]
    config1, clock, reserved = found[9], found[14], (found[18], found[20])
    wrong = flags & ~FLAGS or any(reserved) or sample_type & ~SAMPLES or read_format & ~FORMATS
    if wrong or flags & (AUX_OUTPUT | SIGTRAP | WRITE_BACKWARD):
        fail(errno.EINVAL)
    if period > HIGHEST_RATE if flags & FREQUENCY else period >> 63:
        fail(errno.EINVAL)
    return PerfEventAttr(kind, config, period, sample_type, read_format, flags, wakeup, clock, config1)


def _too_big(user: ArgumentMemory, address: int) -> None:
    user.pack(U32, address + 4, LAYOUT.size)
    fail(errno.E2BIG)
