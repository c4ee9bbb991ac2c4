"""System calls' access to the program's memory: whole structures, strings, and partial buffers."""

from __future__ import annotations

import errno
from struct import Struct
from typing import Any

from pfmon.engine.guest_memory import GuestMemoryFault, Memory
from pfmon.engine.linux.abi.structures import IOVEC
from pfmon.engine.linux.process.syscall_errors import fail

READ, WRITE, EXECUTE = 1, 2, 4
MASK = (1 << 64) - 1
MAX_PATH_BYTES = 4096
MAX_IOVECS = 1024
MAX_TRANSFER_BYTES = 0x7FFFC000  # bytes in one read or write, as Linux limits it (a whole number of pages)


def signed(value: int, bits: int = 64) -> int:
    """The low bits of a register as a C integer."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def int32(value: int) -> int:
    """A register as a C int: a file descriptor or a flag word."""
    return signed(value, 32)


class UserMemory:
    """The program's memory, with the transfers that system calls make."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def read(self, address: int, length: int) -> bytes:
        return self.memory.read(address, length)

    def write(self, address: int, data: bytes) -> None:
        self.memory.write(address, data)

    def unpack(self, layout: Struct, address: int) -> tuple[Any, ...]:
        """A structure of the program."""
        return layout.unpack(self.memory.read(address, layout.size))

    def pack(self, layout: Struct, address: int, *fields: Any) -> None:
        """Write a structure."""
        self.memory.write(address, layout.pack(*fields))

    def prefix(self, address: int, length: int, protection: int) -> int:
        """How many of length bytes from address on have this protection. A transfer ends where memory does."""
        end = address
        for low, high, allowed in self.memory.regions_map():
            if high <= end:
                continue
            if low > end or allowed & protection != protection:
                break
            end = high
            if end - address >= length:
                return length
        return end - address

    def check_writable(self, address: int, length: int) -> None:
        """GuestMemoryFault unless the program could write to the whole range."""
        usable = self.prefix(address & MASK, length, WRITE)
        if address < 0 or usable < length:
            raise GuestMemoryFault(address + usable)

    def buffer(self, address: int, length: int, protection: int) -> int:
        """The usable length of a buffer; EFAULT if it has one and not even its first byte can be used."""
        length = min(length, MAX_TRANSFER_BYTES)
        usable = self.prefix(address, length, protection) if length else 0
        if length and not usable:
            raise GuestMemoryFault(address)
        return usable

    def string(self, address: int, longest: int = MAX_PATH_BYTES) -> bytes:
        """A zero-terminated string without the zero; ENAMETOOLONG if it is longer than allowed."""
        data = b""
        while len(data) < longest:
            part = 256 - (address + len(data)) % 256  # never crosses into the next page needlessly
            piece = self.memory.read(address + len(data), part)
            end = piece.find(b"\0")
            if end >= 0:
                return data + piece[:end]
            data += piece
        return fail(errno.ENAMETOOLONG)

    def path(self, address: int) -> bytes:
        """A path name; ENOENT for an empty one."""
        return self.string(address) or fail(errno.ENOENT)

    def vectors(self, address: int, count: int) -> list[tuple[int, int]]:
        """An array of struct iovec: (base, length)."""
        if not 0 <= count <= MAX_IOVECS:
            fail(errno.EINVAL)
        data = self.memory.read(address, count * IOVEC.size) if count else b""
        found = [(int(base), int(length)) for base, length in IOVEC.iter_unpack(data)]
        if any(length >= 1 << 63 for _, length in found):
            fail(errno.EINVAL)
        return found
