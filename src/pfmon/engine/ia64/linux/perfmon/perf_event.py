"""One event of perf: its count and times, its group, its periods (Linux 6.1, kernel/events/core.c)."""

from __future__ import annotations

from struct import Struct

from pfmon.engine.api import PmuEvent
from pfmon.engine.ia64.linux.perfmon.perf_attributes import (
    DISABLED,
    FORMAT_ENABLED,
    FORMAT_GROUP,
    FORMAT_ID,
    FORMAT_LOST,
    FORMAT_RUNNING,
    PINNED,
)
from pfmon.engine.ia64.linux.perfmon.perf_sources import Clock
from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from pfmon.engine.ia64.linux.perfmon.perf_attributes import Attributes
    from pfmon.engine.ia64.linux.perfmon.perf_file import PerfFile
    from pfmon.engine.ia64.linux.perfmon.perf_ring import Ring
    from pfmon.engine.ia64.linux.perfmon.perf_schedule import Schedule
    from pfmon.engine.ia64.linux.perfmon.perf_sources import Source

MASK = (1 << 64) - 1
SECOND = 1_000_000_000


class Total(NamedTuple):
    """What was counted, and the times that an event was enabled and on the PMU."""

    value: int
    enabled: int
    running: int

    def plus(self, other: Total) -> Total:
        """Both together."""
        return Total(*(one + more for one, more in zip(self, other, strict=True)))


class PerfEvent:
    """An event, in a group of its own or of another one. Times are in nanoseconds that its process has used."""

    def __init__(
        self,
        number: int,
        attributes: Attributes,
        source: Source,
        leader: PerfEvent | None,
        thread: int,
        own: bool = True,
    ) -> None:
        """``number``: its id, which no other has; ``thread``: whose it is, and with INHERIT of all that follow;
        ``own``: its process has opened it, and may read its counter."""
        self.id = number
        self.own = own
        self.thread = thread
        self.attributes = attributes
        self.source = source
        self.leader = leader or self
        self.siblings: list[PerfEvent] = []
        self.file: PerfFile
        self.is_on = not attributes.flags & DISABLED
        self.runs = True
        """Whether a thread runs that it is of."""
        self.pmd: int | None = None
        """Its counter, while it has one."""
        self.failed = False
        """It is pinned, and there was no counter."""
        self.count = 0
        self.enabled = self.running = 0
        self._updated = 0
        self.period = 1 if attributes.by_frequency else attributes.period
        self.left = self.period
        """Events until the next sample."""
        self.last_sample = 0
        self.limit = 0
        """Overflows after which it is disabled; 0: none is the last."""
        self.ring: Ring | None = None
        self.lost = 0
        self.unseen = 0
        """Samples since who polls was told."""
        self.root = self
        """The event that was opened, of one that a child process has inherited (perf_inherit.py)."""
        self.copies: list[tuple[Schedule, PerfEvent]] = []
        """Those of child processes that run."""
        self.ended = Total(0, 0, 0)
        """What those of child processes that have ended came to."""

    @property
    def group(self) -> Iterator[PerfEvent]:
        """Its group, the leader first."""
        yield self.leader
        yield from self.leader.siblings

    @property
    def wants_time(self) -> bool:
        """Whether it is enabled: its leader has to be, too."""
        return self.is_on and self.leader.is_on and self.runs and not self.leader.failed

    @property
    def is_pinned(self) -> bool:
        """Whether it has to be on the PMU all the time."""
        return bool(self.attributes.flags & PINNED)

    @property
    def pmu_event(self) -> PmuEvent | None:
        """What a counter is to count; None: it needs none."""
        return self.source if isinstance(self.source, PmuEvent) else None

    @property
    def total(self) -> Total:
        """What it and those of child processes came to, as far as they are up to date."""
        total = Total(self.count, self.enabled, self.running).plus(self.ended)
        for _, copy in self.copies:
            total = total.plus(copy.total)
        return total

    def update_copies(self) -> None:
        """Bring those of child processes up to date."""
        for schedule, _ in self.copies:
            schedule.update()

    def pass_time(self, now: int) -> None:
        """Account the processor time of its process since the last call."""
        passed, self._updated = max(0, now - self._updated), now
        if not self.wants_time:
            return
        self.enabled += passed
        if self.pmu_event is None or self.pmd is not None:
            self.running += passed
        if self.source is Clock:
            self.count += passed

    def start_clock(self, used: int, now: int) -> None:
        """It begins to exist, when its process has used so much of the processor."""
        self._updated, self.last_sample = used, now

    def next_period(self, now: int) -> None:
        """A sample was taken: the next one is a period away. By frequency the period follows what happened, an eighth
        of the way at a time."""
        if self.attributes.by_frequency:
            passed = now - self.last_sample
            if passed > 0:
                wanted = self.period * SECOND // (passed * self.attributes.period)
                self.period = max(1, self.period + (wanted - self.period + 7) // 8)
        self.last_sample = now
        self.left = self.period

    def values(self) -> bytes:
        """What read gives."""
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
