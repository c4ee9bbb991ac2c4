"""The texts of source files in a page: whole files, as long as there is room, and of others the lines with counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pfmon.program.source_texts import SourceTexts

MAX_WHOLE_CHARACTERS = 800_000
"""Of all files that are whole in a page together: those that were named first."""
NEIGHBOURS = 3
"""Lines before and after one with counts, of files that are not whole."""


class SourceFiles:
    """The files that a page names, by number."""

    def __init__(self, texts: SourceTexts) -> None:
        self._texts = texts
        self._files: dict[str, set[int]] = {}
        self._numbers: dict[str, int] = {}

    def number(self, path: str, line: int) -> int:
        """Return the number of a file whose line the page names."""
        self._files.setdefault(path, set()).add(line)
        return self._numbers.setdefault(path, len(self._numbers))

    def to_data(self) -> list[dict[str, Any]]:
        """Return path, and ``text``, a list of all lines (null: the file is not there, or too large), or ``some``, a
        list of line numbers and texts."""
        room = MAX_WHOLE_CHARACTERS
        found: list[dict[str, Any]] = []
        for path, lines in self._files.items():
            text = self._texts.lines(path) or []
            size = sum(len(line) + 1 for line in text)
            if text and size <= room:
                room -= size
                found.append({"path": path, "text": [line.rstrip() for line in text], "some": []})
            else:
                found.append({"path": path, "text": None, "some": _some(text, lines)})
        return found


def _some(text: list[str], lines: Iterable[int]) -> list[list[Any]]:
    near = {line + step for line in lines for step in range(-NEIGHBOURS, NEIGHBOURS + 1)}
    return [[line, text[line - 1].rstrip()] for line in sorted(near) if 0 < line <= len(text)]
