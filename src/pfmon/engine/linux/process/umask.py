"""The program's file mode creation mask; the host's is shared by pfmon's whole process."""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Iterator
from contextlib import contextmanager

_switching = allocate_lock()


class Umask:
    """The host's mask until the program sets its own."""

    def __init__(self) -> None:
        self._own: int | None = None

    def set(self, mask: int) -> int:
        """Returns the old one."""
        old = _hosts() if self._own is None else self._own
        self._own = mask & 0o777
        return old

    @contextmanager
    def creating(self) -> Iterator[None]:
        """Context in which the program's mask is in force."""
        if self._own is None:
            yield
            return
        with _switching:
            old = os.umask(self._own)
            try:
                yield
            finally:
                os.umask(old)


def _hosts() -> int:
    """The host's mask; umask(2) cannot read it without setting it."""
    with open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"Umask:"):
                return int(line.split()[1], 8)
    raise OSError("the host's kernel does not tell its mask in /proc/self/status")
