"""Snapshots: files with results that were computed when pfmon was built (setup.py), so that a run need not.

A snapshot carries the identity of its inputs: the contents of sources and data, the build of extension modules. It is
loaded only if all inputs are still the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

MAGIC = b"pfmon snapshot 1\n"

BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
"""Head of the ELF note with the linker's hash (sizes of name and hash, type NT_GNU_BUILD_ID, name), in the file's
first page. The rest of the page changes when symbols are stripped."""
HASH_BYTES = 20
PAGE = 4096
LENGTH_BYTES = 8


def write(path: str, inputs: Sequence[str], content: bytes) -> None:
    """Write a snapshot of ``content``. ``inputs``: paths of all files that it was computed from. OSError: no file."""
    with open(path, "wb") as file:
        file.write(identity(inputs) + _length(content) + content)


def load(path: str, inputs: Sequence[str]) -> bytearray | None:
    """The content of a snapshot; None: it is missing or cut off, or an input has changed."""
    try:
        expected = identity(inputs)
        with open(path, "rb", buffering=0) as file:
            if file.read(len(expected)) != expected:
                return None
            length = file.read(LENGTH_BYTES)
            content = bytearray(os.fstat(file.fileno()).st_size - file.tell())
            file.readinto(content)
            return content if length == _length(content) else None
    except OSError:
        return None


def identity(inputs: Sequence[str]) -> bytes:
    """The identity of some files, in this order. OSError: one cannot be read."""
    parts = [_identity(path) for path in inputs]
    return b"".join([MAGIC, *(_length(part) + part for part in parts)])


def _identity(path: str) -> bytes:
    """The hash in an extension module that was linked with one, the content of any other file."""
    with open(path, "rb", buffering=0) as file:
        head = file.read(PAGE)
        place = head.find(BUILD_ID) if path.endswith(".so") else -1
        return head + file.readall() if place < 0 else head[place : place + len(BUILD_ID) + HASH_BYTES]


def _length(content: bytes | bytearray) -> bytes:
    return len(content).to_bytes(LENGTH_BYTES, "little")
