"""Sources of perf events: the PMU's by generic names or codes, and the kernel's own (Linux 6.1,
<linux/perf_event.h>)."""

from __future__ import annotations

import errno
from collections.abc import Callable

from pfmon.engine.guest_pmu import PmuEvent
from pfmon.engine.linux.perf.perf_attributes import PerfEventAttr
from pfmon.engine.linux.process.syscall_errors import fail

HARDWARE, SOFTWARE, CACHE, RAW = 0, 1, 3, 4
"""Types of events. Tracepoints and breakpoints, 2 and 5, are not supported."""
GENERIC = (
    *("cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles"),
    *("stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"),
)
"""Hardware events by number."""
CACHES = ("L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node")
OPERATIONS = ("load", "store", "prefetch")
CLOCKS = (0, 1)
"""Software events that count nanoseconds of the task: cpu-clock, task-clock."""
NEVER = (3, 4, 9)
"""Software events that never happen to a single task on one processor: context switches, migrations, dummy."""

CODE, UMASK, THRESHOLD = 0xFF, 0xF00, 0x70000
"""Fields of a raw event of IA-64: event code, unit mask, threshold, whatever their positions in the PMU's registers."""


class ClockSource:
    """Counts the task's nanoseconds."""


class ZeroSource:
    """Counts nothing."""


Source = PmuEvent | type[ClockSource] | type[ZeroSource]


def raw_event(attributes: PerfEventAttr) -> PmuEvent:
    """The event of a raw encoding on IA-64."""
    config = attributes.config
    if config & ~(CODE | UMASK | THRESHOLD):
        fail(errno.EINVAL)
    return PmuEvent("", config & CODE, (config & UMASK) >> 8, (config & THRESHOLD) >> 16, attributes.levels)


def source_of(attributes: PerfEventAttr, raw: Callable[[PerfEventAttr], PmuEvent] = raw_event) -> Source:
    """The source of an attribute's event; ``raw``: that of a raw encoding. OSError (ENOENT, EINVAL): unknown event."""
    if attributes.type == SOFTWARE:
        if attributes.config in CLOCKS:
            return ClockSource
        return ZeroSource if attributes.config in NEVER else fail(errno.ENOENT)
    if attributes.type == HARDWARE:
        event = PmuEvent(_generic(attributes.config), 0, 0, 0, attributes.levels)
    elif attributes.type == CACHE:
        event = PmuEvent(_of_cache(attributes.config), 0, 0, 0, attributes.levels)
    elif attributes.type == RAW:
        event = raw(attributes)
    else:
        fail(errno.ENOENT)
    return event if attributes.levels else ZeroSource


def _generic(number: int) -> str:
    return GENERIC[number] if number < len(GENERIC) else fail(errno.EINVAL)


def _of_cache(config: int) -> str:
    """Perf's name of a cache event: cache, operation, access or miss."""
    cache, operation, result = config & 0xFF, config >> 8 & 0xFF, config >> 16
    if cache >= len(CACHES) or operation >= len(OPERATIONS) or result > 1:
        fail(errno.EINVAL)
    return f"{CACHES[cache]}-{OPERATIONS[operation]}" + ("-misses" if result else "s")
