"""Arithmetic of the register stack's backing store (SDM volume 1, 4.1 and volume 2, chapter 6).

Registers are stored upwards, 8 bytes each; every 64th word (address bits 3-8 all ones) holds the NaT bits of
the 63 before it.
"""

from __future__ import annotations

WORD = 8
GROUP = 64
COLLECTION = 63  # slot number of the NaT collection


def slot(address: int) -> int:
    """Number of a word within its group of 64."""
    return address // WORD % GROUP


def skip(address: int, registers: int) -> int:
    """The address after storing ``registers`` registers from ``address`` on (before it, if negative)."""
    if registers >= 0:
        return address + WORD * (registers + (slot(address) + registers) // COLLECTION)
    before = slot(address) + registers
    return address + WORD * (registers + (before // COLLECTION if before < 0 else 0))


def count(low: int, high: int) -> int:
    """The number of registers in [low, high)."""
    words = (high - low) // WORD
    return words - (slot(low) + words) // GROUP
