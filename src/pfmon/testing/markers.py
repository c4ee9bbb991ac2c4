"""Markers: two functions that a Python program calls to start and stop counting.

They are in a page at a fixed address, so that they do not depend on the build of Python or the addresses of its
libraries. Each marks a region (docs/regions.md) and returns; an engine that does not see marks knows the addresses.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import mmap
import os
from collections.abc import Callable
from functools import wraps
from typing import Any

START = 0x3D00_0000_0000
"""An address at which no engine of x86-64 programs and no kernel maps anything by default."""
STOP = START + 64
REGION = "test"
"""The region between the calls."""
NAME = START + 128
"""Where its name is."""
RETURN = b"\xc3"
"""x86-64's ret."""
LOAD_NAME = b"\x48\xb8" + NAME.to_bytes(8, "little")
"""mov rax, NAME"""
MARKS = {START: b"\x0f\x1f\x80pfm+", STOP: b"\x0f\x1f\x80pfm-"}
"""nop [rax + ...]"""
FIXED_NOREPLACE = 0x100000
"""MAP_FIXED_NOREPLACE (linux/mman.h), which the module mmap lacks."""


class Markers:
    """The page and the functions that call it."""

    def __init__(self) -> None:
        """OSError: the address is in use."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | FIXED_NOREPLACE
        if libc.mmap(START, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0) != START:
            raise OSError(f"{START:#x}: {os.strerror(ctypes.get_errno())}")
        ctypes.memset(START, RETURN[0], mmap.PAGESIZE)
        pieces = {NAME: REGION.encode() + b"\0"} | {at: LOAD_NAME + mark + RETURN for at, mark in MARKS.items()}
        for at, piece in pieces.items():
            ctypes.memmove(at, piece, len(piece))
        if libc.mprotect(START, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(f"{START:#x}: {os.strerror(ctypes.get_errno())}")
        function = ctypes.CFUNCTYPE(None)
        self._start, self._stop = function(START), function(STOP)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function wrapped in the markers: only the function and the two marker calls are counted."""
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def counted_later(*positional: Any, **named: Any) -> Any:
                self._begin()
                try:
                    return await function(*positional, **named)
                finally:
                    self._stop()

            return counted_later

        @wraps(function)
        def counted(*positional: Any, **named: Any) -> Any:
            self._begin()
            try:
                return function(*positional, **named)
            finally:
                self._stop()

        return counted

    def _begin(self) -> None:
        """Start counting with an empty garbage collector, so that its runs within the test depend on the test alone."""
        gc.collect()
        self._start()
