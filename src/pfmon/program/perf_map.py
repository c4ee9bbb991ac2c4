"""Names of code that a program generates, by its perf map: a file /tmp/perf-PID.map with a line ``START SIZE NAME`` for
each piece of code, in hexadecimal (Linux, tools/perf/Documentation/jit-interface.txt).

Node.js writes it with --perf-basic-prof, Java by an agent, CPython from 3.12 on with -X perf.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left, insort
from functools import cached_property
from pathlib import Path

from pfmon.bounded_files import read_bounded
from pfmon.program.loaded_objects import ObjectFile
from pfmon.program.symbols import Symbol, SymbolTable

FOLDER, NAME = Path("/tmp"), "perf-{}.map"
LINE = re.compile(rb"^([0-9a-fA-F]{1,16}) ([0-9a-fA-F]{1,16}) (.+)$", re.M)
MAX_LINES = 1 << 20
MARGIN = 0.1
"""Seconds by which times of files may be behind the clock."""


class PerfMap(ObjectFile):
    """The perf map that a program writes. ``process``: its number as it sees it, None: unknown. The map is then the
    only one that was written since this object was made."""

    def __init__(self, process: int | None) -> None:
        super().__init__("", None)
        self._process = process
        self._since = time.time() - MARGIN

    @cached_property
    def table(self) -> SymbolTable:
        """The names, as soon as they are read; the program may write the map up to its end."""
        table = SymbolTable(b"")
        table.take(symbols(self._contents()))
        return table

    def _contents(self) -> bytes:
        process = "*" if self._process is None else self._process
        paths = FOLDER.glob(NAME.format(process))
        found = [path for path in paths if _written(path) >= self._since]
        if len(found) != 1:
            return b""
        try:
            return read_bounded(found[0])
        except (OSError, ValueError):
            return b""


def symbols(text: bytes) -> list[Symbol]:
    """Return the symbols of a perf map. Of pieces of code that overlap the one that was written last counts: it took
    the place of the others."""
    taken: list[tuple[int, int, str]] = []
    for start, size, name in reversed(LINE.findall(text)[:MAX_LINES]):
        first, beyond = int(start, 16), int(start, 16) + int(size, 16)
        place = bisect_left(taken, (first, 0, ""))
        free = (place == 0 or taken[place - 1][1] <= first) and (place == len(taken) or taken[place][0] >= beyond)
        if free and first < beyond <= 1 << 64:
            insort(taken, (first, beyond, name.decode("utf-8", "backslashreplace")))
    return [Symbol(first, beyond - first, name, "function") for first, beyond, name in taken]


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
