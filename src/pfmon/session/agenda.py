"""What a session does while the program runs, at exact instructions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Alarm:
    """Something that is due whenever ``period`` more instructions have retired."""

    def __init__(self, period: int, ring: Callable[[], None]) -> None:
        self.period = max(1, period)
        self.due = self.period
        self._ring = ring

    def check(self, retired: int) -> None:
        """Ring if it is time."""
        if retired >= self.due:
            self.due += self.period
            self._ring()


class Once(Alarm):
    """Something that is due once, with so many instructions retired."""

    def __init__(self, due: int, ring: Callable[[], None]) -> None:
        super().__init__(1, ring)
        self.due = due
        self.rung = False

    def check(self, retired: int) -> None:
        """Ring if it is time, once."""
        if retired >= self.due and not self.rung:
            self.rung = True
            self._ring()


class Alarms:
    """All alarms of a session."""

    def __init__(self, alarms: Sequence[Alarm]) -> None:
        self._alarms = list(alarms)

    def __bool__(self) -> bool:
        return bool(self._alarms)

    def next_stop(self) -> int | None:
        """With how many instructions retired the next alarm is due."""
        return min((alarm.due for alarm in self._alarms if not isinstance(alarm, Once) or not alarm.rung), default=None)

    def add(self, alarm: Alarm) -> None:
        """One more."""
        self._alarms.append(alarm)

    def ring(self, retired: int) -> None:
        """Ring what is due."""
        for alarm in self._alarms:
            alarm.check(retired)
