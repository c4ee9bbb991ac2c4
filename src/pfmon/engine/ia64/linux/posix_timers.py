"""Timers that a program makes as many of as it likes (timer_create(2)), on several clocks."""

from __future__ import annotations

from pfmon.engine.ia64.linux.signals import SI_TIMER, Signal
from pfmon.engine.ia64.linux.structures import SIGINFO_TIMER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pfmon.engine.ia64.linux.thread import Thread


class PosixTimer:
    """One of them. ``now``: its clock; ``absolute``: guest time that passes while nobody runs counts; ``signal`` 0: it
    tells nobody."""

    def __init__(
        self, number: int, now: Callable[[], int], real: bool, signal: int, value: int, thread: Thread | None
    ) -> None:
        self.number = number
        self.now = now
        self.real = real
        self.thread = thread
        self.overrun = 0
        """Times that came while the signal of one before was still pending."""
        self._signal, self._value = signal, value
        self._expiry = self._interval = 0
        self._sent: Signal | None = None

    def get(self) -> tuple[int, int]:
        """Interval, and time left; 0: it is not set."""
        return self._interval, max(1, self._expiry - self.now()) if self._expiry else 0

    def set(self, interval: int, value: int, absolute: bool) -> None:
        """Let it expire at or after ``value``, then every interval; 0 stops it."""
        self._interval, self.overrun = interval, 0
        self._expiry = 0 if not value else value if absolute else self.now() + value

    def left(self) -> int | None:
        """Time until it expires, by its clock; None: it is not set."""
        return max(0, self._expiry - self.now()) if self._expiry else None

    def fire(self, is_pending: Callable[[Signal], bool]) -> Signal | None:
        """The signal to send now, if its time has come."""
        now = self.now()
        if not self._expiry or now < self._expiry:
            return None
        times = (now - self._expiry) // self._interval + 1 if self._interval else 1
        self._expiry = self._expiry + times * self._interval if self._interval else 0
        if self._sent is not None and is_pending(self._sent):
            self.overrun += times
            return None
        self.overrun = times - 1
        if not self._signal:
            return None
        info = SIGINFO_TIMER.pack(self._signal, 0, SI_TIMER, self.number, self.overrun, self._value)
        self._sent = Signal(self._signal, info)
        return self._sent
