"""The file of a perf event: read, ioctl, mmap, close (Linux 6.1, kernel/events/core.c)."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.perf.perf_attributes import HIGHEST_RATE, INHERIT
from pfmon.engine.linux.perf.perf_event import EventSchedule, PerfEvent
from pfmon.engine.linux.perf.perf_ring import PerfRing
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.fasync import NotifyingFile

ENABLE, DISABLE, REFRESH, RESET, SET_OUTPUT = 0x2400, 0x2401, 0x2402, 0x2403, 0x2405
PERIOD, ID = 0x40082404, 0x80082407
GROUP = 1
"""Flag of ENABLE, DISABLE and RESET: the whole group."""


class PerfFile(NotifyingFile):
    """The file of a perf event's descriptor."""

    def __init__(self, process: Process, event: PerfEvent, schedule: EventSchedule) -> None:
        super().__init__(b"anon_inode:[perf_event]")
        self.event = event
        self.number = -1
        self._process = process
        self._schedule = schedule

    may_wait = False

    def release(self) -> None:
        """Release one reference; the last one removes the event."""
        if self.references == 1:
            self._schedule.remove(self.event)
            for schedule, copy in list(self.event.copies):
                schedule.remove(copy)
        super().release()

    def notify_opener(self, code: int) -> None:
        """Send the signal requested by the opening process."""
        if not self._process.is_over:
            self.notify(self._process, self.number, code)

    def read(self, count: int) -> bytes:
        """The count, or those of the group."""
        if self.event.leader.failed:
            return b""
        self._schedule.update()
        for one in self.event.group:
            one.update_copies()
        data = self.event.values()
        return data if count >= len(data) else fail(errno.ENOSPC)

    def before_poll(self) -> None:
        """It is readable while reported records are unread."""
        if self.event.ring and self.event.ring.is_read:
            self.ready(False)

    # --- ioctl

    def ioctl(self, process: Process, request: int, argument: int) -> int | None:
        """PERF_EVENT_IOC_..."""
        event = self.event
        events = list(event.group) if argument & GROUP else [event]
        if request in (ENABLE, DISABLE):
            self._switch(events, request == ENABLE)
        elif request == RESET:
            self._schedule.update()
            for one in events:
                one.update_copies()
                for same in (one, *(copy for _, copy in one.copies)):
                    same.count = 0
        elif request == REFRESH:
            self._refresh(int32(argument))
        elif request == PERIOD:
            self._set_period(int(process.user.unpack(U64, argument)[0]))
        elif request == ID:
            process.user.pack(U64, argument, event.id)
        elif request == SET_OUTPUT:
            self._set_output(process, int32(argument))
        else:
            return None
        return 0

    def _switch(self, events: list[PerfEvent], on: bool) -> None:
        self._schedule.update()
        for one in events:
            one.is_on = on
            one.failed = one.failed and not on
            for schedule, copy in one.copies:
                schedule.update()
                copy.is_on = on
                schedule.change()
        self._schedule.change()

    def _refresh(self, times: int) -> None:
        """Take ``times`` more samples, and then disable the event."""
        event = self.event
        if not event.attributes.samples or event.attributes.flags & INHERIT:
            fail(errno.EINVAL)
        event.limit = max(0, event.limit + times)
        self._switch([event], True)

    def _set_period(self, period: int) -> None:
        event = self.event
        wrong = not event.attributes.samples or not period
        if wrong or (period > HIGHEST_RATE if event.attributes.by_frequency else period >> 63):
            fail(errno.EINVAL)
        self._schedule.update()
        if event.attributes.by_frequency:
            event.attributes = event.attributes._replace(period=period)
        else:
            event.period = event.left = period
        self._schedule.change()

    def _set_output(self, process: Process, number: int) -> None:
        """Write records to another event's ring; -1: to none."""
        event = self.event
        if number == -1:
            event.ring = None
            return
        other = process.files.get(number)
        if not isinstance(other, PerfFile):
            fail(errno.EBADF)
        if other is self or (event.ring and event.ring.is_mapped):
            fail(errno.EINVAL)
        event.ring = other.event.ring

    # --- mmap

    def check_mapping(self, length: int, offset: int, shared: bool) -> bool:
        """Accept one page, and none or a power of two of pages for records."""
        ring = self.event.ring
        page = self._process.memory.page_size
        pages = length // page - 1
        whole = length % page == 0 and pages >= 0 and pages & (pages - 1) == 0
        if not shared or offset or not whole or self.event.attributes.flags & INHERIT:
            fail(errno.EINVAL)
        if ring and ring.is_mapped and ring.size != pages * page:
            fail(errno.EINVAL)
        return True

    def mapped(self, process: Process, start: int, length: int, protection: int) -> None:
        """Set the ring's address."""
        self.event.ring = PerfRing(process, start, length, protection)
        self._schedule.update()
