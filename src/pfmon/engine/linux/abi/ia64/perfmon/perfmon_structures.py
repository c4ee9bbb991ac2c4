"""Layouts of perfmonctl's arguments (Linux up to 5.9, <asm/perfmon.h>, <asm/perfmon_default_smpl.h>)."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

CONTEXT = Struct("<16sQHHiQ88s")  # buffer format, flags, extra sets, reserved, fd, buffer's address, reserved
BUFFER_ARGUMENT = Struct("<QII16x")  # size, flags, reserved
REGISTER = Struct("<IHH2Q2Q4Q2QQ4QQ24s")
DEBUG_REGISTER = Struct("<IHHQQ8s")  # number, set, reserved, value, flags, reserved
LOAD = Struct("<iHH24s")  # pid, set, reserved
FEATURES = Struct("<II32s")  # version, reserved
DEBUG = Struct("<I")
MESSAGE = Struct("<2i4QHHIQ")  # type, fd, overflowed PMDs, active set, reserved, time
BUFFER_HEADER = Struct("<5QII80x")  # entries, bytes used, reserved, overflows, size, version, reserved
BUFFER_ENTRY = Struct("<i3xB3QHHi")  # pid, PMD, last reset value, ip, time, processor, set, thread group
U64 = Struct("<Q")

DEFAULT_FORMAT = bytes.fromhex("4d72bec0 0664 4143 82b4 d3fd27243c97")
"""The UUID of the default sampling format, in memory order."""
NO_FORMAT = bytes(16)

NOTIFY_BLOCK, SYSTEM_WIDE, NO_MESSAGES = 0x01, 0x02, 0x80
"""Flags of a context."""
OVERFLOW_NOTIFY, RANDOM = 1, 2
"""Flags of a register."""
RETURN_EINVAL, RETURN_MASK = 1 << 30, 3 << 30
"""The kernel's results in a register's flags."""
MESSAGE_OVERFLOW, MESSAGE_END = 1, 2
VERSION = 2 << 16
"""Version of perfmon, 2.0, and of the default sampling format."""


class RegisterArgument(NamedTuple):
    """pfarg_reg_t: a PMC or PMD as written by a program or returned to it."""

    number: int
    set: int
    reserved: int
    value: int
    flags: int
    long_reset: int
    short_reset: int
    reset_pmds: tuple[int, ...]
    random_seed: int
    random_mask: int
    last_reset: int
    smpl_pmds: tuple[int, ...]
    event_id: int
    rest: bytes

    @classmethod
    def unpack(cls, data: bytes) -> RegisterArgument:
        """The structure from its bytes."""
        number, event_set, reserved, value, flags, long, short, *rest = REGISTER.unpack(data)
        return cls(
            *(number, event_set, reserved, value, flags, long, short),
            *(tuple(rest[0:4]), rest[4], rest[5], rest[6], tuple(rest[7:11]), rest[11], rest[12]),
        )

    def pack(self) -> bytes:
        """The bytes of the structure."""
        return REGISTER.pack(
            *(self.number, self.set, self.reserved, self.value, self.flags, self.long_reset, self.short_reset),
            *(*self.reset_pmds, self.random_seed, self.random_mask, self.last_reset, *self.smpl_pmds),
            *(self.event_id, self.rest),
        )

    def answered(self, flags: int) -> RegisterArgument:
        """The same with the kernel's result in the flags."""
        return self._replace(flags=self.flags & ~RETURN_MASK | flags)
