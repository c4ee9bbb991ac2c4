"""A one-shot or periodic expiry on a clock: the base of all kinds of timers."""

from __future__ import annotations

from collections.abc import Callable


class Countdown:
    """Times in nanoseconds; ``now``: its clock. Initially unset."""

    def __init__(self, now: Callable[[], int]) -> None:
        self.now = now
        self._expiry = self._interval = 0

    @property
    def running(self) -> bool:
        """Whether it is set."""
        return self._expiry != 0

    def get(self) -> tuple[int, int]:
        """Interval and time left; 0: not set."""
        return self._interval, max(1, self._expiry - self.now()) if self._expiry else 0

    def set(self, interval: int, value: int, absolute: bool = False) -> None:
        """Expire after ``value``, or at it if ``absolute``, then every interval; 0 stops it."""
        self._interval = interval
        self._expiry = 0 if not value else value if absolute else self.now() + value

    def left(self) -> int | None:
        """Time until it expires, by its clock; None: not set."""
        return max(0, self._expiry - self.now()) if self._expiry else None

    def times(self) -> int:
        """The number of expiries since the last call."""
        now = self.now()
        if not self._expiry or now < self._expiry:
            return 0
        if not self._interval:
            self._expiry = 0
            return 1
        times = (now - self._expiry) // self._interval + 1
        self._expiry += times * self._interval
        return times
