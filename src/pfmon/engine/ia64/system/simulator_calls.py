"""Calls of the simulator: ``break.m 0x80001`` with a number in GR15, arguments in GR32 to GR35, a result in GR8, as
HP's simulator Ski has them. Those that open, read and write files of the host are not here."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from pfmon.engine.ia64.system.console import Console

BREAK = 0x80001
NO_SUCH_CALL = -1
YEAR_ZERO = 1900
MICROSECOND, MILLISECOND = 1_000, 1_000_000
"""In nanoseconds."""


class CallingSystem(Protocol):
    """The system as its calls reach it."""

    @property
    def console(self) -> Console: ...

    @property
    def nanoseconds(self) -> int:
        """Its time, since 1970."""

    def exit(self, status: int) -> None:
        """End the run."""

    def halt(self) -> None:
        """Let time pass until an interrupt pends; the run ends if none can."""

    def write_memory(self, address: int, content: bytes) -> bool:
        """Write physical memory; False: there is none."""


Arguments = Sequence[int]


def stop(system: CallingSystem, _: Arguments) -> None:
    """STOP: a breakpoint of the simulator's user, which here ends the run."""
    system.exit(0)


def halt_light(system: CallingSystem, _: Arguments) -> None:
    """HALT_LIGHT: waits for an interrupt."""
    system.halt()


def console_init(system: CallingSystem, _: Arguments) -> int:
    """CONSOLE_INIT: the console is there already; returns its descriptor."""
    return 0


def get_character(system: CallingSystem, _: Arguments) -> int:
    """GETCHAR: the next character, 0 if none waits."""
    return system.console.read() or 0


def put_character(system: CallingSystem, arguments: Arguments) -> None:
    """PUTCHAR: writes the low byte of the first argument."""
    system.console.write(arguments[0])


def no_completion(_: CallingSystem, __: Arguments) -> int:
    """GET_COMPLETION, WAIT_COMPLETION: no disk request was made."""
    return -1


def real_time_clock(system: CallingSystem, arguments: Arguments) -> None:
    """GET_RTC: year since 1900, month from 0 on, day, hour, minute, second, millisecond and weekday from Sunday on, 32
    bits each, at a physical address."""
    seconds, rest = divmod(system.nanoseconds, 10**9)
    now = time.gmtime(seconds)
    fields = (now.tm_year - YEAR_ZERO, now.tm_mon - 1, now.tm_mday, now.tm_hour, now.tm_min, now.tm_sec)
    system.write_memory(arguments[0], struct.pack("<8I", *fields, rest // MILLISECOND, (now.tm_wday + 1) % 7))


def time_of_day(system: CallingSystem, arguments: Arguments) -> None:
    """GET_TOD: seconds since 1970 and microseconds, 32 bits each, at a physical address; at another one, unless that is
    0, minutes west and summer time, both 0."""
    seconds, rest = divmod(system.nanoseconds, 10**9)
    system.write_memory(arguments[0], struct.pack("<2I", seconds & 0xFFFFFFFF, rest // MICROSECOND))
    if arguments[1]:
        system.write_memory(arguments[1], bytes(8))


def exit_(system: CallingSystem, arguments: Arguments) -> None:
    """EXIT: ends the run with the status in the first argument."""
    system.exit(arguments[0] & 0xFF)


def arguments_of_image(_: CallingSystem, __: Arguments) -> int:
    """GET_ARGS: the length of the image's arguments, of which it has none."""
    return 0


SimulatorCall = Callable[[CallingSystem, Arguments], int | None]

CALLS: dict[int, SimulatorCall] = {
    0: stop,
    19: halt_light,
    20: console_init,
    21: get_character,
    31: put_character,
    54: no_completion,
    55: no_completion,
    65: real_time_clock,
    66: exit_,
    74: time_of_day,
    75: arguments_of_image,
}
"""By number."""
