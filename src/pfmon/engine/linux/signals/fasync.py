"""Files that send a signal when they become readable (fcntl: O_ASYNC, F_SETOWN, F_SETSIG)."""

from __future__ import annotations

import errno
import fcntl as host_fcntl
import os

from pfmon.engine.linux.abi.structures import INT2, SIGINFO_POLL
from pfmon.engine.linux.files import open_flags
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.signal_table import LAST, SIGIO
from pfmon.engine.linux.signals.signals import SI_KERNEL, Signal

F_GETFL, F_SETFL, F_SETOWN, F_GETOWN, F_SETSIG, F_GETSIG, F_SETOWN_EX, F_GETOWN_EX = 3, 4, 8, 9, 10, 11, 15, 16
OWNER_THREAD, OWNER_PROCESS, OWNER_GROUP = 0, 1, 2
O_ASYNC = 0o20000
SETTABLE = open_flags.O_APPEND | open_flags.O_NONBLOCK
POLL_IN, POLL_HUP = 1, 6
BANDS = {POLL_IN: 0x41, POLL_HUP: 0x410}
"""si_code -> si_band: POLLIN and POLLRDNORM, POLLHUP and POLLERR."""


class NotifyingFile(OpenFile):
    """An open file without a counterpart on the host: its descriptor there, an eventfd, is readable while ``ready`` is
    set."""

    def __init__(self, path: bytes) -> None:
        super().__init__(os.eventfd(0, os.EFD_CLOEXEC), True, path, inside=True)
        self._ready = False
        self._asynchronous = False
        self._owner = 0
        self._kind = OWNER_PROCESS
        self._signal = 0

    may_wait = True

    def ready(self, now: bool) -> None:
        """Set whether it is readable."""
        if now != self._ready:
            self._ready = now
            if now:
                os.eventfd_write(self.host, 1)
            else:
                os.eventfd_read(self.host)

    def read(self, count: int) -> bytes:
        """Data to read; `ready` was set before."""
        fail(errno.EINVAL)

    def write(self, data: bytes) -> int:
        fail(errno.EINVAL)

    def notify(self, process: Process, number: int, code: int) -> None:
        """Send the signal to the owner, if enabled; ``number``: of the descriptor."""
        if not self._asynchronous or not self._owner:
            return
        thread = process.threads.get(self._owner) if self._kind == OWNER_THREAD else None
        if self._signal:
            info = SIGINFO_POLL.pack(self._signal, 0, code, BANDS[code], number)
            process.send(Signal(self._signal, info), thread)
        else:
            process.send(process.own_signal(SIGIO, SI_KERNEL), thread)

    def mapped(self, process: Process, start: int, length: int, protection: int) -> None:
        """Called after memory was mapped for it."""

    def ioctl(self, process: Process, request: int, argument: int) -> int | None:
        """ioctl requests of such files alone; None: the general ones apply."""
        return None

    def fcntl(self, process: Process, command: int, argument: int) -> int | None:
        """Handle commands on its flags and owner; None: the general ones apply."""
        if command == F_GETFL:
            return process.file_flags(self) | (O_ASYNC if self._asynchronous else 0)
        if command == F_SETFL:
            self._asynchronous = bool(argument & O_ASYNC)
            kept = process.file_flags(self) & ~SETTABLE
            host_fcntl.fcntl(self.host, host_fcntl.F_SETFL, open_flags.to_host(kept | argument & SETTABLE))
            return 0
        if command in (F_SETOWN, F_SETOWN_EX):
            self._set_owner(process, command, argument)
            return 0
        if command == F_GETOWN:
            return self._owner
        if command == F_GETOWN_EX:
            process.user.pack(INT2, argument, self._kind, abs(self._owner))
            return 0
        if command == F_SETSIG:
            if not 0 <= argument <= LAST:
                fail(errno.EINVAL)
            self._signal = argument
            return 0
        return self._signal if command == F_GETSIG else None

    def _set_owner(self, process: Process, command: int, argument: int) -> None:
        """Set the receiver of the signal: a process, or with a minus sign a group; F_SETOWN_EX has a structure."""
        owner = int32(argument)
        kind = OWNER_GROUP if owner < 0 else OWNER_PROCESS
        if command == F_SETOWN_EX:
            kind, owner = process.user.unpack(INT2, argument)
            if kind not in (OWNER_THREAD, OWNER_PROCESS, OWNER_GROUP):
                fail(errno.EINVAL)
            owner = -owner if kind == OWNER_GROUP else owner
        if owner and not process.is_own(abs(owner)):
            fail(errno.ESRCH)
        self._owner, self._kind = owner, kind
