"""Interval timers (setitimer): real time, and virtual and profiling time, which are processor time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pfmon.engine.linux.signals.signal_table import SIGALRM, SIGPROF, SIGVTALRM
from pfmon.engine.linux.time.clock import Clock
from pfmon.engine.linux.time.countdown import Countdown

ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF = 0, 1, 2
SIGNAL_OF = {ITIMER_REAL: SIGALRM, ITIMER_VIRTUAL: SIGVTALRM, ITIMER_PROF: SIGPROF}


class IntervalTimers:
    """The three timers; times in nanoseconds, each on its own clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers = {which: Countdown(self._clock_of(which)) for which in SIGNAL_OF}

    def _clock_of(self, which: int) -> Callable[[], int]:
        return self._clock.monotonic if which == ITIMER_REAL else self._clock.processor

    @property
    def running(self) -> bool:
        """Whether any is set."""
        return any(timer.running for timer in self._timers.values())

    def get(self, which: int) -> tuple[int, int]:
        """(interval, time left); (0, 0) when it is not set."""
        timer = self._timers[which]
        return timer.get() if timer.running else (0, 0)

    def set(self, which: int, interval: int, value: int) -> None:
        """Expire after value, then every interval; 0 stops it."""
        self._timers[which].set(interval, value)

    def expired(self) -> Iterator[int]:
        """The signals of expired timers; restarts periodic ones."""
        for which, timer in self._timers.items():
            if timer.times():
                yield SIGNAL_OF[which]

    def real_time_left(self) -> int | None:
        """Time until ITIMER_REAL expires: the only one that advances while the process waits."""
        return self._timers[ITIMER_REAL].left()

    def left(self) -> list[int]:
        """Time until each set timer expires if the process keeps running."""
        return [left for timer in self._timers.values() if (left := timer.left()) is not None]
