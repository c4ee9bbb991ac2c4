"""Lines at the bottom of a terminal, below what the program writes there: the rest scrolls above them.

The terminal is told to scroll all but its last rows (DECSTBM), so that nothing that the program writes is overwritten.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SAVE, RESTORE, ERASE = "\x1b7", "\x1b8", "\x1b[2K"


class Panel:
    """So many rows at the bottom of the terminal that ``descriptor`` is."""

    def __init__(self, descriptor: int, rows: int) -> None:
        self._descriptor, self._wanted = descriptor, rows
        self._size = (0, 0)
        self._rows = 0

    @property
    def rows(self) -> int:
        """How many were wanted."""
        return self._wanted

    @property
    def width(self) -> int:
        """Columns."""
        return os.get_terminal_size(self._descriptor).columns

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines and nothing else; more than there is room for are left out."""
        size = os.get_terminal_size(self._descriptor)
        if size != self._size:
            self._reserve(size.lines)
            self._size = size
        first = size.lines - self._rows + 1
        shown = [*lines, *[""] * self._rows][: self._rows]
        self._write(SAVE + "".join(f"\x1b[{first + row};1H{ERASE}{line}" for row, line in enumerate(shown)) + RESTORE)

    def _reserve(self, height: int) -> None:
        """Keep the last rows from scrolling; the cursor stays where it is on the text above them."""
        self._rows = min(self._wanted, max(0, height - 2))
        down = "\n" * self._rows
        up = f"\x1b[{self._rows}A" if self._rows else ""
        self._write(f"{down}{up}{SAVE}\x1b[1;{height - self._rows}r{RESTORE}")

    def close(self) -> None:
        """Give the rows back."""
        if self._rows:
            first = self._size[1] - self._rows + 1
            erased = "".join(f"\x1b[{first + row};1H{ERASE}" for row in range(self._rows))
            self._write(f"{SAVE}\x1b[1;{self._size[1]}r{erased}{RESTORE}")
            self._rows = 0

    def _write(self, text: str) -> None:
        os.write(self._descriptor, text.encode())
