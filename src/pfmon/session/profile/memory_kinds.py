"""The kind of memory at an address outside all files: stack, heap, mapped memory, the register backing store."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.program.image import MAP_BASE, QEMU_BASE, QEMU_HEAP

REGION = 1 << 61
"""A region, an eighth of the address space (Intel Itanium Architecture Software Developer's Manual, volume 2, 4.1)."""
STACKS = 1 << 31
"""Maximum distance of the stack and the register backing store below the end of a region's usable part, on Linux."""
REGION_LIMIT = (1 << 44) - (1 << 14)

NAMES = {
    "stack": "stack",
    "registers": "register backing store",
    "mapped": "mapped memory",
    "heap": "heap",
    "other": "other memory",
}
"""Names of areas by kind."""


class _Range(NamedTuple):
    """Addresses from ``start`` to before ``end`` and their kind."""

    start: int
    end: int
    kind: str


X86_64_ENGINE = (
    _Range(0x1000_8000_0000, 0x5600_0000_0000, "mapped"),
    _Range(0x5600_0000_0000, 0x6000_0000_0000, "heap"),
    _Range(0x6000_0000_0000, 0x6F00_0000_0000, "mapped"),
    _Range(0x6F00_0000_0000, 0x7000_0000_0000, "stack"),
)
"""Below REGION, under the x86-64 engine (engine/x86_64/runtime/memory_map.h)."""

PIE_START, LOW_END = 0x1000_0000, 0x6000_0000
"""The address at which that engine loads a position-independent program, and the end of the files that it maps."""
LOW_MAPPINGS = 0x5000_0000
"""Files of other programs are above it, unless they have more than 256 MB."""

QEMU_STACK = 0x80_1000
"""Bytes of the stack and the page before it, under qemu (docs/dev/engines.md)."""


def kind_of(address: int, break_start: int, bits: int = 64) -> str:
    """Return the kind of an address; ``break_start``: the end of the program's own pages, where its heap begins if
    nothing else is known; ``bits``: of its addresses. Of 32 bits only the heap is told, as far as it is near: stack and
    mappings are where qemu has found room."""
    if bits == 32:
        return "heap" if break_start <= address < break_start + QEMU_HEAP else "other"
    if address >= REGION:
        return _in_region(address, break_start)
    if address >= X86_64_ENGINE[0].start:
        return next((one.kind for one in X86_64_ENGINE if one.start <= address < one.end), "other")
    if address >= QEMU_BASE:
        return _under_qemu(address, break_start)
    if _mapped_low(address, break_start):
        return "mapped"
    return "heap" if address >= break_start else "other"


def _mapped_low(address: int, break_start: int) -> bool:
    """Return whether an address is of the files that the x86-64 engine maps downwards from LOW_END, and of what is
    behind them; the heap of a position-independent program is elsewhere."""
    independent = PIE_START <= break_start < PIE_START + (PIE_START >> 1)
    return (break_start if independent else LOW_MAPPINGS) <= address < LOW_END


def _in_region(address: int, break_start: int) -> str:
    """Return the kind of an address of Linux for IA-64."""
    below = REGION_LIMIT - address % REGION
    if 0 < below <= STACKS // 2:
        return "stack"
    if 0 < below <= STACKS:
        return "registers"
    if address // REGION == MAP_BASE // REGION:
        return "mapped"
    return "heap" if address >= break_start else "other"


def _under_qemu(address: int, break_start: int) -> str:
    """Return the kind of an address in qemu's part of 64-bit programs: heap, stack, mapped memory."""
    heap_end = (break_start + 4095 & -4096) + QEMU_HEAP if break_start >= QEMU_BASE else QEMU_BASE
    if address < heap_end:
        return "heap"
    return "stack" if address < heap_end + QEMU_STACK else "mapped"
