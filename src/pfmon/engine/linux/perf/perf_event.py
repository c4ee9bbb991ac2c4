"""One event of perf: its count and times, its group, its periods (Linux 6.1, kernel/events/core.c)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import NamedTuple, Protocol

from pfmon.engine.guest_pmu import PmuEvent
from pfmon.engine.linux.perf.perf_attributes import (
    DISABLED,
    FORMAT_ENABLED,
    FORMAT_GROUP,
    FORMAT_ID,
    FORMAT_LOST,
    FORMAT_RUNNING,
    PINNED,
    PerfEventAttr,
)
from pfmon.engine.linux.perf.perf_ring import PerfRing
from pfmon.engine.linux.perf.perf_sources import ClockSource, Source

MASK = (1 << 64) - 1
SECOND = 1_000_000_000


class PerfTotal(NamedTuple):
    """A count, and the times that an event was enabled and on the PMU."""

    value: int
    enabled: int
    running: int

    def plus(self, other: PerfTotal) -> PerfTotal:
        """The sum of both."""
        return PerfTotal(*(one + more for one, more in zip(self, other, strict=True)))


class EventFile(Protocol):
    """The file of an event's descriptor."""

    def ready(self, now: bool) -> None:
        """Set whether it is readable."""

    def notify_opener(self, code: int) -> None:
        """Send the signal requested by the opening process."""


class EventSchedule(Protocol):
    """The perf events of a process."""

    def update(self) -> None:
        """Update counts and times to the next instruction."""

    def change(self) -> None:
        """Reschedule after a change of enabled events."""

    def remove(self, event: PerfEvent) -> None:
        """Remove a closed event."""


class PerfEvent:
    """An event, leading a group or in another one's. Times are nanoseconds of its process's processor time."""

    def __init__(
        self,
        number: int,
        attributes: PerfEventAttr,
        source: Source,
        leader: PerfEvent | None,
        thread: int,
        own: bool = True,
    ) -> None:
        """``number``: its unique id; ``thread``: the monitored one, and with INHERIT all its descendants; ``own``: its
        process has opened it, and may read its counter."""
        self.id = number
        self.own = own
        self.thread = thread
        self.attributes = attributes
        self.source = source
        self.leader = leader or self
        self.siblings: list[PerfEvent] = []
        self.file: EventFile
        self.is_on = not attributes.flags & DISABLED
        self.runs = True
        """Whether its thread runs."""
        self.counter: int | None = None
        """Its counter, if it is scheduled."""
        self.failed = False
        """It is pinned, and no counter was free."""
        self.count = 0
        self.enabled = self.running = 0
        self._updated = 0
        self.period = 1 if attributes.by_frequency else attributes.period
        self.left = self.period
        """Events until the next sample."""
        self.last_sample = 0
        self.limit = 0
        """Overflows before it is disabled; 0: unlimited."""
        self.ring: PerfRing | None = None
        self.lost = 0
        self.unseen = 0
        """Samples since the last wakeup of pollers."""
        self.root = self
        """The opened event, for a copy inherited by a child process (perf_inherit.py)."""
        self.copies: list[tuple[EventSchedule, PerfEvent]] = []
        """Its copies in running child processes."""
        self.ended = PerfTotal(0, 0, 0)
        """Totals of its copies in ended child processes."""

    @property
    def group(self) -> Iterator[PerfEvent]:
        """Its group, leader first."""
        yield self.leader
        yield from self.leader.siblings

    @property
    def wants_time(self) -> bool:
        """Whether it is enabled, and its leader too."""
        return self.is_on and self.leader.is_on and self.runs and not self.leader.failed

    @property
    def is_pinned(self) -> bool:
        """Whether it has to be on the PMU whenever it is enabled."""
        return bool(self.attributes.flags & PINNED)

    @property
    def pmu_event(self) -> PmuEvent | None:
        """The event that a counter has to count; None: it needs no counter."""
        return self.source if isinstance(self.source, PmuEvent) else None

    @property
    def total(self) -> PerfTotal:
        """Its total with those of child processes, as of their last update."""
        total = PerfTotal(self.count, self.enabled, self.running).plus(self.ended)
        for _, copy in self.copies:
            total = total.plus(copy.total)
        return total

    def update_copies(self) -> None:
        """Update its copies in child processes."""
        for schedule, _ in self.copies:
            schedule.update()

    def pass_time(self, now: int) -> None:
        """Account the processor time of its process since the last call."""
        passed, self._updated = max(0, now - self._updated), now
        if not self.wants_time:
            return
        self.enabled += passed
        if self.pmu_event is None or self.counter is not None:
            self.running += passed
        if self.source is ClockSource:
            self.count += passed

    def start_clock(self, used: int, now: int) -> None:
        """Start its times, at ``used`` nanoseconds of its process's processor time."""
        self._updated, self.last_sample = used, now

    def next_period(self, now: int) -> None:
        """Start the next period after a sample. By frequency the period adapts to the measured rate, an eighth of the
        way each time."""
        if self.attributes.by_frequency:
            passed = now - self.last_sample
            if passed > 0:
                wanted = self.period * SECOND // (passed * self.attributes.period)
                self.period = max(1, self.period + (wanted - self.period + 7) // 8)
        self.last_sample = now
        self.left = self.period

    def values(self) -> bytes:
        """The bytes that read returns."""
        read_format = self.attributes.read_format
        if not read_format & FORMAT_GROUP:
            return _words(self.total.value, *self._times(read_format), *self._named(read_format))
        words = [len(list(self.group)), *self.leader._times(read_format)]
        for one in self.group:
            words += [one.total.value, *one._named(read_format)]
        return _words(*words)

    def _times(self, read_format: int) -> list[int]:
        total = self.total
        enabled = [total.enabled] if read_format & FORMAT_ENABLED else []
        return enabled + ([total.running] if read_format & FORMAT_RUNNING else [])

    def _named(self, read_format: int) -> list[int]:
        name = [self.id] if read_format & FORMAT_ID else []
        return name + ([self.lost] if read_format & FORMAT_LOST else [])


def _words(*values: int) -> bytes:
    return Struct(f"<{len(values)}Q").pack(*(value & MASK for value in values))


def inherited_ended(events: Iterable[PerfEvent]) -> None:
    """Add the totals of an ended process's copies to the opened events."""
    for event in events:
        root = event.root
        if root is not event:
            root.ended = root.ended.plus(event.total)
            root.copies = [one for one in root.copies if one[1] is not event]
