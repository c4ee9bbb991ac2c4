"""Timers in retired instructions, which fire at exact instructions of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class PeriodicTimer:
    """A timer that fires each time ``period`` more instructions have retired."""

    def __init__(self, period: int, action: Callable[[], None]) -> None:
        self.period = max(1, period)
        self.due = self.period
        self._action = action

    def check(self, retired: int) -> None:
        """Fire if due."""
        if retired >= self.due:
            self.due += self.period
            self._action()


class OneShotTimer(PeriodicTimer):
    """A timer that fires once, at a number of retired instructions."""

    def __init__(self, due: int, action: Callable[[], None]) -> None:
        super().__init__(1, action)
        self.due = due
        self.fired = False

    def check(self, retired: int) -> None:
        """Fire if due, once."""
        if retired >= self.due and not self.fired:
            self.fired = True
            self._action()


class Timers:
    """All timers of a session."""

    def __init__(self, timers: Sequence[PeriodicTimer]) -> None:
        self._timers = list(timers)

    def __bool__(self) -> bool:
        return bool(self._timers)

    def next_stop(self) -> int | None:
        """The number of retired instructions at which the next timer fires."""
        return min(
            (timer.due for timer in self._timers if not isinstance(timer, OneShotTimer) or not timer.fired),
            default=None,
        )

    def add(self, timer: PeriodicTimer) -> None:
        """Add a timer."""
        self._timers.append(timer)

    def fire(self, retired: int) -> None:
        """Fire all due timers."""
        for timer in self._timers:
            timer.check(retired)
