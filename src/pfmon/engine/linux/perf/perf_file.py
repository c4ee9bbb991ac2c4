"""The file of a perf event in the emulated kernel: read, ioctl, mmap, close."""

from __future__ import annotations

import errno

from pfmon.engine.linux.perf.kernel_process import KernelRingMemory
from pfmon.engine.linux.perf.perf_control import PerfControl
from pfmon.engine.linux.perf.perf_event import EventSchedule, PerfEvent
from pfmon.engine.linux.perf.perf_ring import PerfRing
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.fasync import NotifyingFile


class PerfFile(NotifyingFile):
    """The file of a perf event's descriptor."""

    def __init__(self, process: Process, event: PerfEvent, schedule: EventSchedule) -> None:
        super().__init__(b"anon_inode:[perf_event]")
        self.event = event
        self.number = -1
        self._process = process
        self._schedule = schedule
        self._control = PerfControl(event, schedule, lambda number: event_of_file(process, number))

    may_wait = False

    def release(self) -> None:
        """Release one reference; the last one removes the event."""
        if self.references == 1:
            self._control.release()
        super().release()

    def notify_opener(self, code: int) -> None:
        """Send the signal requested by the opening process."""
        if not self._process.is_over:
            self.notify(self._process, self.number, code)

    def read(self, count: int) -> bytes:
        """The count, or those of the group."""
        return self._control.read(count)

    def before_poll(self) -> None:
        """It is readable while reported records are unread."""
        if self.event.ring and self.event.ring.is_read:
            self.ready(False)

    def ioctl(self, process: Process, request: int, argument: int) -> int | None:
        """PERF_EVENT_IOC_..."""
        return self._control.ioctl(process.user, request, argument)

    def check_mapping(self, length: int, offset: int, shared: bool) -> bool:
        """Accept one page, and none or a power of two of pages for records."""
        self._control.check_mapping(length, offset, shared, self._process.memory.page_size)
        return True

    def mapped(self, process: Process, start: int, length: int, protection: int) -> None:
        """Set the ring's address."""
        self.event.ring = PerfRing(KernelRingMemory(process, start, length, protection))
        self._schedule.update()


def event_of_file(process: Process, number: int) -> PerfEvent:
    """The event of a descriptor. OSError: EBADF."""
    file = process.files.get(number)
    return file.event if isinstance(file, PerfFile) else fail(errno.EBADF)
