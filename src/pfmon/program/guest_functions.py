"""Functions of a program for an interpreter, which native code executes."""

from __future__ import annotations

from typing import NamedTuple


class GuestFunction(NamedTuple):
    """A Python function: its qualified name (PEP 3155), its file as the interpreter names it, and the line at which it
    begins."""

    name: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} ({self.file.rpartition('/')[2]})" if self.file else self.name
