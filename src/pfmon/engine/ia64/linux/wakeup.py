"""What ends the waits of a process from outside."""

from __future__ import annotations

import os
from _thread import RLock


class Wakeup:
    """A descriptor that waits watch beside what they wait for: readable once the run is to stop."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._lock = RLock()  # a signal handler may wake while the same thread closes

    def wake(self) -> None:
        """From any thread or a signal handler."""
        with self._lock:
            if self.descriptor >= 0:
                os.eventfd_write(self.descriptor, 1)

    def close(self) -> None:
        """Nothing waits any more."""
        with self._lock:
            descriptor, self.descriptor = self.descriptor, -1
            if descriptor >= 0:
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()  # of a process that nobody closed
