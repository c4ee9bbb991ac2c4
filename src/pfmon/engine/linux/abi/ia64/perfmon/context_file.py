"""The file of a perfmon context: a queue of messages of 56 bytes (Linux up to 5.9, arch/ia64/kernel/perfmon.c,
pfm_read)."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable

from pfmon.engine.linux.abi.ia64.perfmon.perfmon_context import PerfmonContext
from pfmon.engine.linux.abi.ia64.perfmon.perfmon_structures import MESSAGE, MESSAGE_END, MESSAGE_OVERFLOW
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.fasync import POLL_IN, NotifyingFile

MAX_QUEUED_MESSAGES = 31
"""Queued messages, at most: the kernel's ring has 32 places, one of which stays free."""


class ContextFile(NotifyingFile):
    """The file of a context's descriptor, in the creating process and its children; ``closed`` is called when the last
    descriptor is closed."""

    def __init__(
        self, process: Process, context: PerfmonContext, closed: Callable[[Process, PerfmonContext], None]
    ) -> None:
        super().__init__(b"pfm:")
        self.process, self.context = process, context
        self._closed = closed
        self._queue: deque[bytes] = deque()
        self.number = -1

    def release(self) -> None:
        """Release one reference; the last one closes the context."""
        if self.references == 1:
            self._closed(self.process, self.context)
        super().release()

    def check_read(self, count: int) -> None:
        """A message is read as a whole."""
        if count < MESSAGE.size:
            fail(errno.EINVAL)

    def read(self, count: int) -> bytes:
        """The oldest message."""
        self.check_read(count)
        if not self._queue:
            fail(errno.EAGAIN)
        message = self._queue.popleft()
        self.ready(bool(self._queue))
        return message

    def overflowed(self, pmds: int) -> None:
        """Report an overflow: by a message, unless the context disables them, and by a signal."""
        if self.context.silent:
            self.notify(self.process, self.number, POLL_IN)
        else:
            self._tell(MESSAGE_OVERFLOW, pmds)

    def ended(self) -> None:
        """Report the end of the task."""
        self._tell(MESSAGE_END, 0)

    def _tell(self, kind: int, pmds: int) -> None:
        """Queue a message and send a signal; neither, if the queue is full."""
        if len(self._queue) < MAX_QUEUED_MESSAGES:
            self._queue.append(MESSAGE.pack(kind, self.number, pmds, 0, 0, 0, 0, 0, 0, 0))
            self.ready(True)
            self.notify(self.process, self.number, POLL_IN)

    def forget(self) -> None:
        """Drop the messages of an earlier load."""
        self._queue.clear()
        self.ready(False)
