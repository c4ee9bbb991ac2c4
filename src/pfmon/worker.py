"""Work in a thread of its own, which begins or says that it cannot.

threading.Thread waits for ever for a thread that has no memory to begin with.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable

START_TIMEOUT = 10.0
"""Seconds in which a thread begins."""


class Worker:
    """A thread that is at work. MemoryError: it did not begin."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._begun, self._ended = allocate_lock(), allocate_lock()
        self._begun.acquire()
        self._ended.acquire()
        try:
            start_new_thread(self._run, (work,))
        except RuntimeError as error:
            raise MemoryError(str(error)) from None
        if not self._begun.acquire(timeout=START_TIMEOUT):
            raise MemoryError("there is no memory for another thread")

    def _run(self, work: Callable[[], None]) -> None:
        self._begun.release()
        try:
            work()
        finally:
            self._ended.release()

    def wait(self, seconds: float = -1) -> bool:
        """Until the work has ended, or so many seconds long; whether it has."""
        if not self._ended.acquire(timeout=seconds):
            return False
        self._ended.release()
        return True
