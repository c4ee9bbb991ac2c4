"""The memory of a perf event's mapping, shared with the program: a file in memory that the runtime opens and maps."""

from __future__ import annotations

import fcntl
import mmap
import os

PAGE = 4096
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
"""Its size is fixed: a file that the program makes shorter would fault here."""


class MappedRing:
    """One file. ``mappings``: how often the program has mapped it; ``file``: its descriptor in this process."""

    page_bytes = PAGE

    def __init__(self, length: int, is_writable: bool) -> None:
        """OSError: no descriptor or memory is left."""
        self.length, self.is_writable = length, is_writable
        self.mappings = 0
        self.file = os.memfd_create("perf_event", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.file, length)
            fcntl.fcntl(self.file, fcntl.F_ADD_SEALS, SEALS)
            self._memory = mmap.mmap(self.file, length)
        except OSError:
            os.close(self.file)
            raise

    @property
    def is_mapped(self) -> bool:
        """Whether the program has it mapped."""
        return self.mappings > 0

    def read(self, offset: int, count: int) -> bytes:
        """Bytes from an offset on."""
        return self._memory[offset : offset + count]

    def write(self, offset: int, data: bytes) -> None:
        """Write at an offset."""
        self._memory[offset : offset + len(data)] = data

    def close(self) -> None:
        """Give it back; the program keeps its own mappings."""
        self.mappings = 0
        self._memory.close()
        os.close(self.file)
