"""The text of source lines, if the files exist."""

from __future__ import annotations

from pathlib import Path


class SourceTexts:
    """Reads source lines; ``folders`` are searched for files with relative paths."""

    def __init__(self, *folders: str) -> None:
        self._folders = folders
        self._files: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str:
        """Return a line, stripped; "": not available."""
        if path not in self._files:
            self._files[path] = self._read(path)
        lines = self._files[path]
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def _read(self, path: str) -> list[str]:
        for folder in self._folders:
            try:
                return Path(folder, path).read_text(encoding="utf-8", errors="replace").split("\n")
            except (OSError, ValueError):
                continue
        return []
