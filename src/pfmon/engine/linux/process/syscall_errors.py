"""Failure of a system call: OSError with the number that the program finds.

The numbers are the generic ones, which IA-64, x86-64 and arm64 have.
"""

from __future__ import annotations

import errno
import os
from typing import NoReturn

from pfmon.engine.linux.process.engine_interface import End


class Restart(Exception):
    """A signal interrupted a call that SA_RESTART restarts; without it the call fails with EINTR."""


class Interrupted(Exception):
    """The run is stopped: a waiting system call ends, and the program does not continue."""


class Terminated(Exception):
    """The program ended within a system call."""

    def __init__(self, end: End) -> None:
        super().__init__(end)
        self.end = end


class ThreadEnded(Exception):
    """The thread that made the system call has ended; its process continues."""


def fail(number: int) -> NoReturn:
    """Raise the OSError of this errno."""
    raise OSError(number, os.strerror(number))


def error_number(error: Exception) -> int | None:
    """The errno of an exception of the host's Python, None for an internal error of pfmon."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, OverflowError):
        return errno.EINVAL
    return None
