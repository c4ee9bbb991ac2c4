"""Functions of the host's C library that Python lacks, with raw bytes. OSError with the host's number."""

from __future__ import annotations

import ctypes
import os

_library = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> int:
    """The result of a function that returns -1 when it fails."""
    result = int(getattr(_library, name)(*arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def call_with_address(name: str, descriptor: int, room: int = 128, *more: object) -> tuple[int, bytes]:
    """accept4, getsockname and similar functions: the result, and the socket address that was written."""
    address = ctypes.create_string_buffer(room)
    length = ctypes.c_uint32(room)
    result = call(name, descriptor, address, ctypes.byref(length), *more)
    return result, address.raw[: min(room, length.value)]
