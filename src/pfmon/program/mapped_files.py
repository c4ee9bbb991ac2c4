"""Files that a program has mapped executable: its shared objects, including those of dlopen."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from pfmon.program.image import MAX_FILE_BYTES


class MappedFile(NamedTuple):
    """One mapping of a file: addresses [start, end) from ``offset`` on. ``path`` is the host's; ``sha256``: of its
    contents, if its run was recorded; ``content``: these, if the recording keeps them."""

    start: int
    end: int
    offset: int
    path: str
    sha256: str = ""
    content: bytes = b""


def contents(path: str) -> bytes | None:
    """The content of a mapped file; None: it cannot be read, is no regular file (a device has no end), or is too
    large to have code in it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe has nothing to wait for
    except (OSError, ValueError):
        return None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            return None
        try:
            return file.read()
        except OSError:
            return None


def in_one_place(mapped: Sequence[MappedFile]) -> list[str]:
    """Return the files mapped at an address where another file was mapped later."""
    ordered = sorted(enumerate(mapped), key=lambda one: one[1].start)
    earlier = set()
    for place, (number, one) in enumerate(ordered):
        for other_number, other in islice(ordered, place + 1, None):
            if other.start >= one.end:
                break
            if other.path != one.path:
                earlier.add(min(number, other_number))
    return list(dict.fromkeys(mapped[number].path for number in sorted(earlier)))
