"""The text of source files, if they exist."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class SourceFile(NamedTuple):
    """A source file. ``path``: that of the compiler, in the line tables of ``objects``, whose paths are as in
    `loaded_objects.ObjectFile`."""

    path: str
    objects: tuple[str, ...]


class SourceTexts:
    """Reads source files; ``folders`` are searched for files with relative paths; ``kept``: texts by path, which a
    recording keeps."""

    def __init__(self, *folders: str, kept: Mapping[str, str] | None = None) -> None:
        self._folders = folders
        self._files: dict[str, list[str] | None] = {path: text.split("\n") for path, text in (kept or {}).items()}

    def line(self, path: str, number: int) -> str:
        """Return a line, stripped; "": not available."""
        lines = self.lines(path) or ()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def text(self, path: str, number: int) -> str | None:
        """Return a line, stripped; None: the file is not available."""
        return None if self.lines(path) is None else self.line(path, number)

    def lines(self, path: str) -> list[str] | None:
        """Return all lines of a file; None: not available."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> list[str] | None:
        for folder in self._folders:
            try:
                with open(os.path.join(folder, path), encoding="utf-8", errors="replace") as file:
                    return file.read().split("\n")
            except (OSError, ValueError):
                continue
        return None
