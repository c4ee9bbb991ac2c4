"""Which files are mapped where code may be: each gets a number, which the blocks from it have (program/mapped.py)."""

from __future__ import annotations

import os

from pfmon.program.mapped import Mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pfmon.engine.ia64.linux.files import OpenFile

Place = tuple[int, int, int]
"""Start, end and number of a file that is mapped now."""


class CodeFiles:
    """All that were ever mapped; a file that comes back to its place keeps its number."""

    def __init__(self) -> None:
        self.files: list[Mapped] = []
        self.tell: Callable[[Sequence[Place]], None] = _nobody
        """Gets the places of all that are mapped now, when these change."""
        self.on_mapped: Callable[[], None] | None = None
        """Called when there is another one."""
        self._numbers: dict[Mapped, int] = {}

    def fork(self) -> CodeFiles:
        """For a child, which has the same files mapped."""
        other = CodeFiles()
        other.files, other._numbers = list(self.files), dict(self._numbers)
        return other

    def number(self, start: int, end: int, file: OpenFile, offset: int) -> int:
        """The number of a file in its place."""
        mapped = Mapped(start, end, offset, os.readlink(f"/proc/self/fd/{file.host}"))
        if mapped not in self._numbers:
            self.files.append(mapped)
            self._numbers[mapped] = len(self.files)
            if self.on_mapped:
                self.on_mapped()
        return self._numbers[mapped]


def _nobody(_: Sequence[Place]) -> None:
    pass
