"""Files below a directory and no others: the kernel resolves each name (openat2(2), RESOLVE_IN_ROOT).

A name refers to a file below the directory in spite of links, of `..` and of renames meanwhile. It is resolved to a
descriptor, and all operations use the descriptor.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from pfmon.errors import PfmonError, reason

OPENAT2 = 437
"""The number of the system call, on every processor."""
RESOLVE_NO_MAGICLINKS, RESOLVE_IN_ROOT = 0x02, 0x10
HOW = struct.Struct("=QQQ")
"""struct open_how: flags, mode, resolve."""
ATTEMPTS = 32
"""So often a name is resolved that somebody renames something in meanwhile (EAGAIN)."""
LOOK = os.O_PATH | os.O_CLOEXEC
MISSING = {errno.ENOSYS: "the kernel does not have it (Linux 5.6 does)", errno.EPERM: "a filter keeps it away"}


class Root:
    """A directory that is / to programs. PfmonError: it cannot be opened, or names cannot be kept below it."""

    descriptor = -1

    def __init__(self, directory: bytes) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        try:
            self.descriptor = os.open(directory, LOOK | os.O_DIRECTORY)
            os.close(self.open(b"/", LOOK))
        except OSError as error:
            if error.errno in MISSING and self.descriptor >= 0:
                raise PfmonError(f"--confine wants openat2(2), and {MISSING[error.errno]}") from None
            raise PfmonError(f"--sysroot={os.fsdecode(directory)}: {reason(error)}") from None

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)

    def open(self, path: bytes, flags: int, mode: int = 0) -> int:
        """A descriptor of what a path from the root means. OSError; EAGAIN: it was being renamed all the time."""
        how = HOW.pack(flags, mode if flags & (os.O_CREAT | os.O_TMPFILE & ~os.O_DIRECTORY) else 0, IN_ROOT)
        for _ in range(ATTEMPTS):
            found = self._library.syscall(
                ctypes.c_long(OPENAT2), ctypes.c_long(self.descriptor), path, how, ctypes.c_long(HOW.size)
            )
            if found >= 0:
                return int(found)
            number = ctypes.get_errno()
            if number != errno.EAGAIN:
                break
        raise OSError(number, os.strerror(number))


IN_ROOT = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS


def name_of(descriptor: int) -> bytes:
    """The host's name of what a descriptor is of."""
    return os.readlink(b"/proc/self/fd/%d" % descriptor)
