"""Files mapped where code may be: each gets a number, which its blocks carry (program/mapped_files.py)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.program.mapped_files import MappedFile

Place = tuple[int, int, int]
"""Start, end and number of a mapped file."""


class CodeFiles:
    """All files ever mapped; a file mapped again at its old place keeps its number."""

    def __init__(self) -> None:
        self.files: list[MappedFile] = []
        self.publish_code: Callable[[Sequence[Place]], None] = _nobody
        """Called with the places of all mapped files when they change."""
        self.on_mapped: Callable[[], None] | None = None
        """Called after a new file is mapped."""
        self._numbers: dict[MappedFile, int] = {}

    def fork(self) -> CodeFiles:
        """A copy for a child process, which has the same files mapped."""
        other = CodeFiles()
        other.files, other._numbers = list(self.files), dict(self._numbers)
        return other

    def number(self, start: int, end: int, file: OpenFile, offset: int) -> int:
        """The number of a file at its place."""
        mapped = MappedFile(start, end, offset, os.readlink(f"/proc/self/fd/{file.host}"))
        if mapped not in self._numbers:
            self.files.append(mapped)
            self._numbers[mapped] = len(self.files)
            if self.on_mapped:
                self.on_mapped()
        return self._numbers[mapped]


def _nobody(_: Sequence[Place]) -> None:
    pass
