"""Resource limits of the process (getrlimit): kept and reported; those on files and stack have an effect."""

from __future__ import annotations

from copy import copy

INFINITY = (1 << 64) - 1
RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_RSS, RLIMIT_NPROC = range(7)
RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS = 7, 8, 9
COUNT = 16
OPEN_FILES = 1024


class ResourceLimits:
    """(soft, hard) by number."""

    def __init__(self, stack: int) -> None:
        self._values = {
            RLIMIT_STACK: (stack, INFINITY),
            RLIMIT_CORE: (0, INFINITY),
            RLIMIT_NPROC: (1024, 1024),
            RLIMIT_NOFILE: (OPEN_FILES, OPEN_FILES),
            RLIMIT_MEMLOCK: (1 << 26, 1 << 26),
        }

    def fork(self) -> ResourceLimits:
        """A copy for a child."""
        other = copy(self)
        other._values = dict(self._values)
        return other

    def get(self, which: int) -> tuple[int, int]:
        return self._values.get(which, (INFINITY, INFINITY))

    def set(self, which: int, soft: int, hard: int) -> None:
        self._values[which] = (soft, hard)

    def open_files(self) -> int:
        return self.get(RLIMIT_NOFILE)[0]
