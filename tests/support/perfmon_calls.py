"""perfmonctl as a program calls it: its structures laid out by the offsets of <asm/perfmon.h>, on a process."""

import struct
from collections.abc import Sequence
from typing import Any, Protocol

WRITE_PMCS, WRITE_PMDS, READ_PMDS, STOP, START, CREATE, RESTART = 1, 2, 3, 4, 5, 8, 0xA
FEATURES, DEBUG, RESET_VALUES, LOAD, UNLOAD, WRITE_IBRS, WRITE_DBRS = 0xC, 0xD, 0xF, 0x10, 0x11, 0x20, 0x21
NOTIFY, RANDOM = 1, 2
SYSTEM_WIDE, BLOCK, NO_MESSAGES = 2, 1, 0x80
UUID = bytes([0x4D, 0x72, 0xBE, 0xC0, 0x06, 0x64, 0x41, 0x43, 0x82, 0xB4, 0xD3, 0xFD, 0x27, 0x24, 0x3C, 0x97])
EINVAL_FLAG = 1 << 30
PID = 1000
MINUS = 1 << 64


INST, NOPS = 0x808, 0x5008
"""PMC values of Itanium 2: IA64_INST_RETIRED, NOPS_RETIRED, at level 3."""


class Caller(Protocol):
    """A process that makes system calls, with memory that tests may use."""

    def call(self, name: str | int, *arguments: int) -> int: ...
    def put(self, data: bytes, offset: int = 0) -> int: ...
    def get(self, length: int, offset: int = 0) -> bytes: ...


def register(number: int, value: int = 0, **fields: Any) -> bytes:
    """pfarg_reg_t: 160 bytes."""
    data = bytearray(160)
    struct.pack_into("<I", data, 0, number)
    offsets = {"flags": 16, "long": 24, "short": 32, "reset": 40, "seed": 72, "mask": 80, "smpl": 96}
    struct.pack_into("<Q", data, 8, value % MINUS)
    for name, field in fields.items():
        struct.pack_into("<Q", data, offsets[name], field % MINUS)
    return bytes(data)


def counter(number: int, period: int, **fields: Any) -> bytes:
    """A PMD that overflows after so many events, at first and always."""
    return register(number, -period, long=-period, short=-period, **fields)


def debug_register(number: int, value: int) -> bytes:
    """pfarg_dbreg_t: 32 bytes."""
    return struct.pack("<IIQQQ", number, 0, value, 0, 0)


class Perfmon:
    """The commands, on a process."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def command(self, fd: int, what: int, items: Sequence[bytes] = (), count: int | None = None) -> int:
        """A command with its argument at the beginning of the memory: 0, or minus the error number."""
        address = self.caller.put(b"".join(items)) if items else 0
        return self.caller.call("perfmonctl", fd, what, address, len(items) if count is None else count)

    def create(self, flags: int = 0, size: int | None = None, uuid: bytes = UUID) -> int:
        """A context; ``size``: of its sampling buffer. The descriptor, or minus the error number."""
        head = struct.pack("<16sQHHiQ88x", uuid if size is not None else bytes(16), flags, 0, 0, -1, 0)
        extra = struct.pack("<QII16x", size, 0, 0) if size is not None else b""
        address = self.caller.put(head + extra)
        result = self.caller.call("perfmonctl", 0, CREATE, address, 1)
        return result or int(struct.unpack("<i", self.caller.get(4, 28))[0])

    def buffer(self) -> int:
        """Where the sampling buffer of the context that was just made is."""
        return int(struct.unpack("<Q", self.caller.get(8, 32))[0])

    def load(self, fd: int, task: int = PID) -> int:
        return self.command(fd, LOAD, [struct.pack("<i28x", task)])

    def write_pmcs(self, fd: int, *items: bytes) -> int:
        return self.command(fd, WRITE_PMCS, items)

    def write_pmds(self, fd: int, *items: bytes) -> int:
        return self.command(fd, WRITE_PMDS, items)

    def read(self, fd: int, *numbers: int) -> list[int]:
        """The values of PMDs."""
        assert self.command(fd, READ_PMDS, [register(number) for number in numbers]) == 0
        return [self.value(place) for place in range(len(numbers))]

    def value(self, place: int = 0) -> int:
        """reg_value of an item as the call left it."""
        return int(struct.unpack("<Q", self.caller.get(8, 160 * place + 8))[0])

    def flags(self, place: int = 0) -> int:
        """reg_flags of an item as the call left it."""
        return int(struct.unpack("<Q", self.caller.get(8, 160 * place + 16))[0])

    def message(self, fd: int) -> tuple[int, int, int] | int:
        """Type, descriptor and PMDs of a message that is read, or minus the error number."""
        result = self.caller.call("read", fd, self.caller.put(bytes(56)), 56)
        if result != 56:
            return result
        kind, descriptor, pmds = struct.unpack_from("<iiQ", self.caller.get(56))
        return int(kind), int(descriptor), int(pmds)
