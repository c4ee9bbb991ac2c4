"""Files that a program has mapped executable: its shared objects, those of dlopen among them."""

from __future__ import annotations

from pfmon.light_typing import NamedTuple


class Mapped(NamedTuple):
    """One file in one place: addresses [start, end) showed it from ``offset`` on. ``path`` is the host's; ``sha256``
    says what it held, if its run was recorded."""

    start: int
    end: int
    offset: int
    path: str
    sha256: str = ""


def digest(data: bytes) -> str:
    """What tells a file that was mapped from another: its SHA-256."""
    import hashlib  # takes long to load, and is for recordings

    return hashlib.sha256(data).hexdigest()
