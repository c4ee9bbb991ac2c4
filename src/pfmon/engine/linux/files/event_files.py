"""timerfd and signalfd. Each file has an eventfd of the host, so that poll and epoll know when it is readable."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from pfmon.engine.linux.abi.structures import SIGINFO_FIELDS, SIGNALFD_SIGINFO, U64
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.process.system import System
from pfmon.engine.linux.time.countdown import Countdown


class EventFile(OpenFile):
    """A timerfd or signalfd. ``ready``: whether it is readable."""

    def __init__(self, blocking: bool, path: bytes) -> None:
        super().__init__(os.eventfd(0, os.EFD_CLOEXEC | (0 if blocking else os.EFD_NONBLOCK)), True, path, inside=True)

    may_wait = True

    def show(self, ready: bool) -> None:
        """Make the host's file readable, or not."""
        blocking = os.get_blocking(self.host)
        os.set_blocking(self.host, False)
        with suppress(BlockingIOError):
            os.eventfd_read(self.host)
        if ready:
            os.eventfd_write(self.host, 1)
        os.set_blocking(self.host, blocking)

    def write(self, data: bytes) -> int:
        return fail(errno.EINVAL)


class TimerFile(EventFile):
    """timerfd: the number of expiries since the last read."""

    def __init__(self, system: System, real: bool, blocking: bool) -> None:
        super().__init__(blocking, b"anon_inode:[timerfd]")
        self._system = system
        self.timer = Countdown(system.clock.realtime if real else system.clock.monotonic)
        self._times = 0
        system.timer_files.add(self)

    def set(self, interval: int, value: int, absolute: bool) -> None:
        """As Countdown.set; earlier expiries are forgotten."""
        self._times = 0
        self.timer.set(interval, value, absolute)
        self.show(False)
        self.fire()

    def fire(self) -> None:
        """Count the expiries."""
        if times := self.timer.times():
            self._times += times
            self.show(True)

    def read(self, count: int) -> bytes:
        if count < U64.size:
            fail(errno.EINVAL)
        self.fire()
        if not self._times:
            fail(errno.EAGAIN)
        times, self._times = self._times, 0
        self.show(False)
        return U64.pack(times)

    def release(self) -> None:
        super().release()
        if not self.references:
            self._system.timer_files.discard(self)


class SignalFile(EventFile):
    """signalfd: signals that are pending, one structure each."""

    def __init__(self, process: Process, mask: int, blocking: bool) -> None:
        super().__init__(blocking, b"anon_inode:[signalfd]")
        self._process = process
        self.mask = mask
        process.signal_files.append(self)
        self.update_readiness()

    def update_readiness(self) -> None:
        """Update readiness after a change of pending signals."""
        self.show(any(thread.signals.pending & self.mask for thread in self._process.threads.values()))

    def read(self, count: int) -> bytes:
        if count < SIGNALFD_SIGINFO.size:
            fail(errno.EINVAL)
        data = b""
        while len(data) + SIGNALFD_SIGINFO.size <= count:
            signal = self._process.signals.take(self.mask)
            if signal is None:
                break
            number, error, code, process_id, user, value = SIGINFO_FIELDS.unpack_from(signal.info.ljust(128, b"\0"))
            fields = (number, error, code, process_id & 0xFFFFFFFF, user, 0, 0, 0, 0, 0, value & 0xFFFFFFFF, 0, value)
            data += SIGNALFD_SIGINFO.pack(*fields)
        self.update_readiness()
        return data or fail(errno.EAGAIN)

    def release(self) -> None:
        super().release()
        if not self.references and self in self._process.signal_files:
            self._process.signal_files.remove(self)
