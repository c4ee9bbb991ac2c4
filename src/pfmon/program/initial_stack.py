"""The initial stack of a Linux process: argc, argv, environment, auxiliary vector, and the strings.

From the stack pointer upwards (System V ABI for IA-64, process initialization): argc, the argument pointers,
0, the environment pointers, 0, pairs of the auxiliary vector ending with AT_NULL; above them the strings.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from pfmon.errors import PfmonError

AT_NULL, AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_BASE, AT_FLAGS, AT_ENTRY = 0, 3, 4, 5, 6, 7, 8, 9
AT_UID, AT_EUID, AT_GID, AT_EGID, AT_HWCAP, AT_CLKTCK = 11, 12, 13, 14, 16, 17
AT_SECURE, AT_RANDOM, AT_EXECFN = 23, 25, 31

ALIGNMENT = 16
SCRATCH_AREA = 16  # below the stack pointer's frame the callee may use these bytes (IA-64 conventions, 8.4)
MAX_ARGUMENTS_BYTES = 2 << 20  # a quarter of the 8 MB stack, as Linux limits it


class InitialStack(NamedTuple):
    """Bytes to write at address; the stack pointer register (r12) starts at pointer."""

    address: int
    data: bytes
    pointer: int


def build(
    top: int,
    arguments: Sequence[bytes],
    environment: Sequence[bytes],
    auxiliary: Sequence[tuple[int, int]],
    file_name: bytes,
    random: bytes,
) -> InitialStack:
    """Lay out the stack below top. AT_RANDOM, AT_EXECFN and AT_NULL are added to the auxiliary vector.

    Raises PfmonError when arguments and environment are too large.
    """
    strings = [*arguments, *environment]
    if sum(len(s) + 9 for s in strings) + len(file_name) > MAX_ARGUMENTS_BYTES:
        raise PfmonError(f"arguments and environment are larger than {MAX_ARGUMENTS_BYTES >> 20} MB")
    # Linux keeps the last word of the stack zero and puts the file name below it.
    blob = bytearray(8)
    at = top - 8

    def push(data: bytes) -> int:
        nonlocal at
        blob[0:0] = data
        at -= len(data)
        return at

    name_at = push(file_name + b"\0")
    joined = b"".join(s + b"\0" for s in strings)
    first = push(joined)
    pointers = []
    for s in strings:
        pointers.append(first)
        first += len(s) + 1
    push(b"\0" * (at % ALIGNMENT))
    random_at = push(random)
    argc = len(arguments)
    vector = [*auxiliary, (AT_RANDOM, random_at), (AT_EXECFN, name_at), (AT_NULL, 0)]
    words = [argc, *pointers[:argc], 0, *pointers[argc:], 0, *(word for pair in vector for word in pair)]
    push(b"\0" * ((at - 8 * len(words)) % ALIGNMENT))
    push(struct.pack(f"<{len(words)}Q", *words))
    return InitialStack(at, bytes(blob), at - SCRATCH_AREA)
