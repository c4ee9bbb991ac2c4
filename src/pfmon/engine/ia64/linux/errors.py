"""How a system call fails: OSError with the number that the program sees in r8.

Linux for IA-64 has the generic error numbers, which are also those of x86-64 and arm64 hosts.
"""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from pfmon.engine.ia64.linux.interface import End


class Restart(Exception):
    """A signal interrupted a call that SA_RESTART lets start again; without it the call fails with EINTR."""


class Interrupted(Exception):
    """The run is stopped: a system call that waits ends, and the program is not to go on."""


class Terminated(Exception):
    """The program ended within a system call."""

    def __init__(self, end: End) -> None:
        super().__init__(end)
        self.end = end


class ThreadEnded(Exception):
    """The thread that made the system call is no more; its process goes on."""


def fail(number: int) -> NoReturn:
    """Let the running system call fail with this errno."""
    raise OSError(number, os.strerror(number))


def error_number(error: Exception) -> int | None:
    """The errno that stands for an exception of the host's Python, None if it is a mistake of pfmon's."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, OverflowError):
        return errno.EINVAL
    return None
