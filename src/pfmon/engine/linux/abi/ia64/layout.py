"""Address-space layout of an IA-64 Linux process with 16 KB pages, and its gate page.

Unwinders recognise a signal frame by a return address in the gate area, 0xa000000000000100 and up.
"""

from __future__ import annotations

REGION_LIMIT = (1 << 44) - (1 << 14)  # bytes that a program can use of each region
REGIONS = 5  # of programs

STACK_TOP = 0x6000_0000_0000_0000 + REGION_LIMIT
# The register backing store grows upwards from 2 GB below the top of the stack.
BACKING_STORE = STACK_TOP - (1 << 31)
MAP_BASE = 0x2000_0000_0000_0000
MAP_END = 0x2000_0000_0000_0000 + REGION_LIMIT
MAX_BREAK_BYTES = 1 << 40

GATE_PAGE = 0xA000_0000_0000_0000
SIGNAL_RETURN_OFFSET = 0x200
SIGNAL_RETURN = GATE_PAGE + SIGNAL_RETURN_OFFSET

# { .mmi  mov r15 = 1181 (rt_sigreturn) ;;  break.m 0x100000  nop.i 0 ;; }
_RETURN_BUNDLE = bytes.fromhex("0b78 7400 0924 0000 0000 0400 0000 0400")


def in_user_space(address: int, length: int) -> bool:
    """Whether a range lies in one region of the program, below the unimplemented addresses."""
    region, offset = address >> 61, address & ((1 << 61) - 1)
    return 0 <= region < REGIONS and 0 <= length <= REGION_LIMIT - offset


def gate_page(size: int) -> bytes:
    """The contents of the gate page, kernel code that programs can execute: here the return from signal handlers."""
    data = bytearray(size)
    data[SIGNAL_RETURN_OFFSET : SIGNAL_RETURN_OFFSET + 16] = _RETURN_BUNDLE
    return bytes(data)
