"""POSIX timers (timer_create(2)), any number per process, on several clocks."""

from __future__ import annotations

from collections.abc import Callable

from pfmon.engine.linux.abi.structures import SIGINFO_TIMER
from pfmon.engine.linux.process.thread import Thread
from pfmon.engine.linux.signals.signals import SI_TIMER, Signal
from pfmon.engine.linux.time.countdown import Countdown


class PosixTimer(Countdown):
    """One POSIX timer. ``real``: its clock advances while no thread runs; ``signal`` 0: no notification."""

    def __init__(
        self, number: int, now: Callable[[], int], real: bool, signal: int, value: int, thread: Thread | None
    ) -> None:
        super().__init__(now)
        self.number = number
        self.real = real
        self.thread = thread
        self.overrun = 0
        """Expiries while an earlier one's signal was still pending."""
        self._signal, self._value = signal, value
        self._sent: Signal | None = None

    def set(self, interval: int, value: int, absolute: bool = False) -> None:
        """As Countdown.set; resets the overrun count."""
        super().set(interval, value, absolute)
        self.overrun = 0

    def fire(self, is_pending: Callable[[Signal], bool]) -> Signal | None:
        """The signal to send now, if it has expired."""
        times = self.times()
        if not times:
            return None
        if self._sent is not None and is_pending(self._sent):
            self.overrun += times
            return None
        self.overrun = times - 1
        if not self._signal:
            return None
        info = SIGINFO_TIMER.pack(self._signal, 0, SI_TIMER, self.number, self.overrun, self._value)
        self._sent = Signal(self._signal, info)
        return self._sent
