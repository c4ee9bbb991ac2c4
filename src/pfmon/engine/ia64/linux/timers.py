"""Interval timers (setitimer): real time, and virtual and profiling time, which are processor time."""

from __future__ import annotations

from pfmon.engine.ia64.linux.signal_table import SIGALRM, SIGPROF, SIGVTALRM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from pfmon.engine.ia64.linux.clock import Clock

ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF = 0, 1, 2
SIGNAL_OF = {ITIMER_REAL: SIGALRM, ITIMER_VIRTUAL: SIGVTALRM, ITIMER_PROF: SIGPROF}


class Timers:
    """The three timers; times in nanoseconds, each on its own clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expiry: dict[int, int] = {}
        self._interval: dict[int, int] = {}

    @property
    def running(self) -> bool:
        """Whether one is set."""
        return bool(self._expiry)

    def _now(self, which: int) -> int:
        return self._clock.monotonic() if which == ITIMER_REAL else self._clock.processor()

    def get(self, which: int) -> tuple[int, int]:
        """(interval, time left); (0, 0) when it is not set."""
        if which not in self._expiry:
            return 0, 0
        return self._interval[which], max(1, self._expiry[which] - self._now(which))

    def set(self, which: int, interval: int, value: int) -> None:
        """Let it expire after value, then every interval; a value of 0 stops it."""
        if value:
            self._expiry[which] = self._now(which) + value
            self._interval[which] = interval
        else:
            self._expiry.pop(which, None)

    def expired(self) -> Iterator[int]:
        """The signals of timers that have expired; sets periodic ones anew."""
        for which, expiry in list(self._expiry.items()):
            now = self._now(which)
            if now < expiry:
                continue
            interval = self._interval[which]
            if interval:
                self._expiry[which] = expiry + interval * ((now - expiry) // interval + 1)
            else:
                del self._expiry[which]
            yield SIGNAL_OF[which]

    def real_time_left(self) -> int | None:
        """Time until ITIMER_REAL expires: the only one that runs while the process waits."""
        if ITIMER_REAL not in self._expiry:
            return None
        return max(0, self._expiry[ITIMER_REAL] - self._clock.monotonic())

    def next_expiry(self) -> int | None:
        """The processor time at which the next timer expires if the process goes on running."""
        now = self._clock.processor()
        left = [expiry - self._now(which) for which, expiry in self._expiry.items()]
        return now + max(0, min(left)) if left else None
