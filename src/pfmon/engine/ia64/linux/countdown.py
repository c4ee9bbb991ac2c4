"""A time that comes once or again and again, on a clock: what all kinds of timers have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Countdown:
    """Times in nanoseconds; ``now``: its clock. It is not set at first."""

    def __init__(self, now: Callable[[], int]) -> None:
        self.now = now
        self._expiry = self._interval = 0

    @property
    def running(self) -> bool:
        """Whether its time will come."""
        return self._expiry != 0

    def get(self) -> tuple[int, int]:
        """Interval, and time left; 0: it is not set."""
        return self._interval, max(1, self._expiry - self.now()) if self._expiry else 0

    def set(self, interval: int, value: int, absolute: bool = False) -> None:
        """Let it expire after ``value``, or at it, then every interval; 0 stops it."""
        self._interval = interval
        self._expiry = 0 if not value else value if absolute else self.now() + value

    def left(self) -> int | None:
        """Time until it expires, by its clock; None: it is not set."""
        return max(0, self._expiry - self.now()) if self._expiry else None

    def times(self) -> int:
        """How often its time has come since this was asked for."""
        now = self.now()
        if not self._expiry or now < self._expiry:
            return 0
        if not self._interval:
            self._expiry = 0
            return 1
        times = (now - self._expiry) // self._interval + 1
        self._expiry += times * self._interval
        return times
