"""Address-space layout of an IA-64 Linux process with 16 KB pages."""

from __future__ import annotations

REGION_LIMIT = (1 << 44) - (1 << 14)  # bytes that a program can use of each region
REGIONS = 5  # of programs

STACK_TOP = 0x6000_0000_0000_0000 + REGION_LIMIT
# The register backing store grows upwards from 2 GB below the top of the stack.
BACKING_STORE = STACK_TOP - (1 << 31)
MAP_BASE = 0x2000_0000_0000_0000
MAP_END = 0x2000_0000_0000_0000 + REGION_LIMIT
MAX_BREAK_BYTES = 1 << 40


def in_user_space(address: int, length: int) -> bool:
    """Whether a range lies in one region of the program, below the unimplemented addresses."""
    region, offset = address >> 61, address & ((1 << 61) - 1)
    return 0 <= region < REGIONS and 0 <= length <= REGION_LIMIT - offset
