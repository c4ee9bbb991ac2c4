"""Two addresses that a Python program executes where counting is to start and to stop.

A page at an address of our own holds nothing but return instructions: to call it does nothing, and no other code is
there. So it is the same for every Python, however that was built and wherever its libraries are.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import mmap
import os
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

START = 0x7D00_0000_0000
"""Where neither qemu nor the kernel puts anything by itself."""
STOP = START + 64
RETURN = b"\xc3"
"""ret, of x86-64."""
FIXED_NOREPLACE = 0x100000
"""MAP_FIXED_NOREPLACE (linux/mman.h), which the module mmap does not have."""


class Markers:
    """The page, with what calls it."""

    def __init__(self) -> None:
        """OSError: something is there already."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | FIXED_NOREPLACE
        if libc.mmap(START, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0) != START:
            raise OSError(f"{START:#x}: {os.strerror(ctypes.get_errno())}")
        ctypes.memset(START, RETURN[0], mmap.PAGESIZE)
        if libc.mprotect(START, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(f"{START:#x}: {os.strerror(ctypes.get_errno())}")
        function = ctypes.CFUNCTYPE(None)
        self._start, self._stop = function(START), function(STOP)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted: what it does counts, and nothing before and behind it but these two calls."""
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
        """The garbage collector starts at nothing: when it runs within the test depends on the test alone."""
        gc.collect()
        self._start()
