"""Timers in retired instructions, which fire at exact instructions of the program."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Alarm:
    """A timer that fires each time ``period`` more instructions have retired."""

    def __init__(self, period: int, ring: Callable[[], None]) -> None:
        self.period = max(1, period)
        self.due = self.period
        self._ring = ring

    def check(self, retired: int) -> None:
        """Fire if due."""
        if retired >= self.due:
            self.due += self.period
            self._ring()


class Once(Alarm):
    """A timer that fires once, at a number of retired instructions."""

    def __init__(self, due: int, ring: Callable[[], None]) -> None:
        super().__init__(1, ring)
        self.due = due
        self.rung = False

    def check(self, retired: int) -> None:
        """Fire if due, once."""
        if retired >= self.due and not self.rung:
            self.rung = True
            self._ring()


class Alarms:
    """All timers of a session."""

    def __init__(self, alarms: Sequence[Alarm]) -> None:
        self._alarms = list(alarms)

    def __bool__(self) -> bool:
        return bool(self._alarms)

    def next_stop(self) -> int | None:
        """The number of retired instructions at which the next timer fires."""
        return min((alarm.due for alarm in self._alarms if not isinstance(alarm, Once) or not alarm.rung), default=None)

    def add(self, alarm: Alarm) -> None:
        """Add a timer."""
        self._alarms.append(alarm)

    def ring(self, retired: int) -> None:
        """Fire all due timers."""
        for alarm in self._alarms:
            alarm.check(retired)
