"""Time as the program sees it, in nanoseconds: it advances with retired instructions and with sleeping.

No time passes while the host waits, unless settings.host_clock says that the host's time is to be seen.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pfmon.engine.settings import Settings

SECOND = 1_000_000_000


class Clock:
    """The clocks of one process."""

    def __init__(self, settings: Settings, retired: Callable[[], int]) -> None:
        self.is_host = settings.host_clock
        self._retired = retired
        self._scale = settings.nanoseconds_per_instruction
        self._epoch = settings.epoch * SECOND
        self._boot = settings.boot * SECOND
        self.slept = 0

    def processor(self) -> int:
        """Processor time used (CLOCK_PROCESS_CPUTIME_ID)."""
        return self._retired() * self._scale

    def monotonic(self) -> int:
        """Time since the machine started."""
        if self.is_host:
            return time.monotonic_ns()
        return self._boot + self.slept + self.processor()

    def realtime(self) -> int:
        """Time since 1970."""
        if self.is_host:
            return time.time_ns()
        return self._epoch + self.slept + self.processor()

    @staticmethod
    def rest(nanoseconds: int) -> None:
        """Let the host's time pass."""
        time.sleep(nanoseconds / SECOND)

    def account(self, nanoseconds: int) -> None:
        """The program has slept or waited so long, so its time passed; the host's passes by itself."""
        if not self.is_host:
            self.slept += max(0, nanoseconds)

    def instructions_until(self, processor_time: int) -> int:
        """The count of retired instructions at which the processor time is reached."""
        return -(-processor_time // self._scale)
