"""Time as the program sees it, in nanoseconds: it advances with retired instructions and sleep.

No time passes while the host waits, unless settings.host_clock exposes the host's time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.linux.process.engine_interface import Registers

SECOND = 1_000_000_000


class Time(Protocol):
    """Time shared by all processes."""

    slept: int

    @property
    def retired(self) -> int:
        """Instructions retired by all processes."""


class CpuTime:
    """Processor time of a process, in instructions: of its present program and of earlier ones."""

    def __init__(self, registers: Registers) -> None:
        self.registers = registers
        self.before = 0
        """Instructions of earlier programs."""

    @property
    def instructions(self) -> int:
        """Instructions so far."""
        return self.before + self.registers.retired

    def go_on_with(self, registers: Registers) -> None:
        """Switch to the processor of another program."""
        self.before, self.registers = self.instructions, registers


class Clock:
    """The clocks of one process."""

    def __init__(self, settings: GuestSettings, time: Time, retired: Callable[[], int]) -> None:
        """``retired``: instructions of this process."""
        self.is_host = settings.host_clock
        self._time = time
        self._retired = retired
        self._scale = settings.nanoseconds_per_instruction
        self._epoch = settings.epoch * SECOND
        self._boot = settings.boot * SECOND

    def processor(self) -> int:
        """Processor time used (CLOCK_PROCESS_CPUTIME_ID)."""
        return self._retired() * self._scale

    def monotonic(self) -> int:
        """Time since the machine started."""
        if self.is_host:
            return time.monotonic_ns()
        return self._boot + self._passed()

    def realtime(self) -> int:
        """Time since 1970."""
        if self.is_host:
            return time.time_ns()
        return self._epoch + self._passed()

    def _passed(self) -> int:
        return self._time.slept + self._time.retired * self._scale

    @staticmethod
    def rest(nanoseconds: int) -> None:
        """Sleep on the host."""
        time.sleep(nanoseconds / SECOND)

    def account(self, nanoseconds: int) -> None:
        """Account a sleep or wait of all threads; the host's time advances by itself."""
        if not self.is_host:
            self._time.slept += max(0, nanoseconds)

    def instructions_until(self, processor_time: int) -> int:
        """The count of retired instructions at which the processor time is reached."""
        return -(-processor_time // self._scale)
