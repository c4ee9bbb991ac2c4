"""Files that a user names to be read: whole, as long as they end."""

from __future__ import annotations

import errno
import os

MAX_READ_BYTES = 1 << 28
"""Bytes that are read at most: /dev/zero and a pipe may go on for ever."""
PIECE = 1 << 20
"""Bytes that are read at a time: a read of ``largest`` bytes would have memory for them, however short the file is."""


def read_bounded(path: str | os.PathLike[str], largest: int = MAX_READ_BYTES) -> bytes:
    """The bytes of a file. OSError: it cannot be read, or has more than ``largest``."""
    with open(path, "rb") as file:
        data = bytearray()
        while len(data) <= largest and (piece := file.read(PIECE)):
            data += piece
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"larger than {largest >> 20} MiB, which is the most that is read")
    return bytes(data)
