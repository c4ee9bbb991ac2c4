"""State and limits of the host's open files, and calls of the host that Python has not."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
from collections.abc import Mapping


def allow_open_files(wanted: int) -> int:
    """Raise this process's limit of descriptors to ``wanted``, within its hard limit (setrlimit(2), RLIMIT_NOFILE);
    returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted and soft != hard:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def flags(descriptor: int) -> int:
    """The access mode and status flags of an open file (fcntl(2), F_GETFL). OSError: not open."""
    return fcntl.fcntl(descriptor, fcntl.F_GETFL)


def events(wanted: Mapping[int, int]) -> dict[int, int]:
    """The wanted events present now, by descriptor, with errors and hang-ups (poll(2)). OSError: the host refuses."""
    poller = select.poll()
    for descriptor, own in wanted.items():
        poller.register(descriptor, own & 0xFFFF)
    return dict(poller.poll(0))


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
