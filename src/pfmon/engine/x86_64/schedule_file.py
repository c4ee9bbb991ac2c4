"""The memory in which the processes of a run have their schedule (runtime/tasks/schedule.h)."""

from __future__ import annotations

import fcntl
import os
from struct import Struct

BYTES = 1 << 20
"""Room for struct schedule."""
DEADLOCK = Struct("=II4088s")
"""Its beginning: bytes of the text about a deadlock, whether there is one, the text."""


class ScheduleFile:
    """The file of one run. Its processes open it by the name that pfmon has for it in /proc."""

    def __init__(self) -> None:
        self._file = os.memfd_create("pfmon schedule", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._file, BYTES)
        fcntl.fcntl(self._file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)

    @property
    def place(self) -> str:
        """Process and descriptor, as an argument of the runtime."""
        return f"{os.getpid()}/{self._file}"

    @property
    def deadlock(self) -> str:
        """The processes that waited for each other when nothing could end any wait, and their waits; empty: none."""
        length, found, text = DEADLOCK.unpack(os.pread(self._file, DEADLOCK.size, 0))
        return text[: min(length, len(text))].decode(errors="replace") if found else ""

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
