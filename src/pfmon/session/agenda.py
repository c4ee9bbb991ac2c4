"""What a session does while the program runs, at exact instructions (guest.Agenda)."""

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


class Alarms:
    """Alarms, and reads of counters by the program."""

    def __init__(self, alarms: Sequence[Alarm], retired: Callable[[], int], read_pmd: Callable[[int], int]) -> None:
        self._alarms = alarms
        self._retired = retired
        self.read_pmd = read_pmd

    def next_stop(self) -> int | None:
        """With how many instructions retired the next alarm is due."""
        return min((alarm.due for alarm in self._alarms), default=None)

    def reached(self) -> None:
        """Ring what is due."""
        for alarm in self._alarms:
            alarm.check(self._retired())
