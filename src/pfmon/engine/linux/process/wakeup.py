"""Ends waits from outside: the stop of a run."""

from __future__ import annotations

import os
from _thread import RLock


class Wakeup:
    """A descriptor that all waits watch: readable once the run is to stop."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._lock = RLock()  # a signal handler may wake while the same thread closes

    def wake(self) -> None:
        """End the waits; from any thread or a signal handler."""
        with self._lock:
            if self.descriptor >= 0:
                os.eventfd_write(self.descriptor, 1)

    def close(self) -> None:
        """Close the descriptors after the last wait."""
        with self._lock:
            descriptor, self.descriptor = self.descriptor, -1
            if descriptor >= 0:
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()  # of a process that was not closed
