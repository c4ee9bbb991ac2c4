"""Requests to the descriptor of a perf event: read, ioctl, mmap, close (Linux 6.1, kernel/events/core.c)."""

from __future__ import annotations

import errno
from collections.abc import Callable

from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.perf.perf_attributes import HIGHEST_RATE, INHERIT, ArgumentMemory
from pfmon.engine.linux.perf.perf_event import EventSchedule, PerfEvent
from pfmon.engine.linux.process.syscall_errors import fail

ENABLE, DISABLE, REFRESH, RESET, SET_OUTPUT = 0x2400, 0x2401, 0x2402, 0x2403, 0x2405
PERIOD, ID = 0x40082404, 0x80082407
GROUP = 1
"""Flag of ENABLE, DISABLE and RESET: the whole group."""


class PerfControl:
    """The requests of one event. ``event_of``: the event of another descriptor. OSError: EBADF."""

    def __init__(self, event: PerfEvent, schedule: EventSchedule, event_of: Callable[[int], PerfEvent]) -> None:
        self.event = event
        self._schedule = schedule
        self._event_of = event_of

    def release(self) -> None:
        """Remove the event: its last descriptor is closed."""
        self._schedule.remove(self.event)
        for schedule, copy in list(self.event.copies):
            schedule.remove(copy)

    def read(self, count: int) -> bytes:
        """The count, or those of the group."""
        if self.event.leader.failed:
            return b""
        self._schedule.update()
        for one in self.event.group:
            one.update_copies()
        data = self.event.values()
        return data if count >= len(data) else fail(errno.ENOSPC)

    def ioctl(self, memory: ArgumentMemory, request: int, argument: int) -> int | None:
        """PERF_EVENT_IOC_...; None: it is none of these."""
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
            self._schedule.update()
        elif request == REFRESH:
            self._refresh(int32(argument))
        elif request == PERIOD:
            self._set_period(int(memory.unpack(U64, argument)[0]))
        elif request == ID:
            memory.pack(U64, argument, event.id)
        elif request == SET_OUTPUT:
            self._set_output(int32(argument))
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

    def _set_output(self, number: int) -> None:
        """Write records to another event's ring; -1: to none."""
        event = self.event
        if number == -1:
            event.ring = None
            return
        other = self._event_of(number)
        if other is event or (event.ring and event.ring.is_mapped):
            fail(errno.EINVAL)
        event.ring = other.ring

    def check_mapping(self, length: int, offset: int, shared: bool, page: int) -> None:
        """Accept one page, and none or a power of two of pages for records. OSError: EINVAL."""
        ring = self.event.ring
        pages = length // page - 1
        whole = length % page == 0 and pages >= 0 and pages & (pages - 1) == 0
        if not shared or offset or not whole or self.event.attributes.flags & INHERIT:
            fail(errno.EINVAL)
        if ring and ring.is_mapped and ring.size != pages * page:
            fail(errno.EINVAL)
