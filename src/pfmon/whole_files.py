"""Files that are written whole or not at all: what a user had stays until there is something to take its place."""

from __future__ import annotations

import os


def partial_of(path: str) -> str:
    """The file that is written first and takes the place of another when it is whole; a device or a pipe is written
    itself."""
    if os.path.exists(path) and not os.path.isfile(path):
        return path
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.getpid()}")


def put_in_place(partial: str, path: str) -> None:
    """The partial file is whole. OSError when it cannot take the place."""
    if partial != path:
        os.replace(partial, path)


def write_whole(path: str, text: str) -> None:
    """Put a text into a file. OSError: it cannot be written; then what was there stays."""
    partial = partial_of(path)
    try:
        with open(partial, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        put_in_place(partial, path)
    except BaseException:
        if partial != path and os.path.exists(partial):
            os.unlink(partial)
        raise
