"""Status lines at the bottom of a terminal; the program's output scrolls above them.

The scrolling region (DECSTBM) excludes the last rows, so the program's output is not overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

SAVE, RESTORE, ERASE = "\x1b7", "\x1b8", "\x1b[2K"


class TerminalPanel:
    """Rows at the bottom of the terminal behind ``descriptor``."""

    def __init__(self, descriptor: int, rows: int) -> None:
        self._descriptor, self._wanted = descriptor, rows
        self._size = (0, 0)
        self._rows = 0

    @property
    def rows(self) -> int:
        """The requested number of rows."""
        return self._wanted

    @property
    def width(self) -> int:
        """The terminal's columns."""
        return os.get_terminal_size(self._descriptor).columns

    def draw(self, lines: Sequence[str]) -> None:
        """Replace the rows by these lines; lines beyond the room are left out."""
        size = os.get_terminal_size(self._descriptor)
        if size != self._size:
            self._reserve(size.lines)
            self._size = size
        first = size.lines - self._rows + 1
        shown = [*lines, *[""] * self._rows][: self._rows]
        self._write(SAVE + "".join(f"\x1b[{first + row};1H{ERASE}{line}" for row, line in enumerate(shown)) + RESTORE)

    def _reserve(self, height: int) -> None:
        """Exclude the last rows from scrolling; the cursor stays in the text above them."""
        self._rows = min(self._wanted, max(0, height - 2))
        down = "\n" * self._rows
        up = f"\x1b[{self._rows}A" if self._rows else ""
        self._write(f"{down}{up}{SAVE}\x1b[1;{height - self._rows}r{RESTORE}")

    def close(self) -> None:
        """Restore the whole screen as the scrolling region."""
        if self._rows:
            first = self._size[1] - self._rows + 1
            erased = "".join(f"\x1b[{first + row};1H{ERASE}" for row in range(self._rows))
            self._write(f"{SAVE}\x1b[1;{self._size[1]}r{erased}{RESTORE}")
            self._rows = 0

    def _write(self, text: str) -> None:
        os.write(self._descriptor, text.encode())
