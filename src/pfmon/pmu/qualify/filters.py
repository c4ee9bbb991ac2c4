"""Qualification as plain data: filters of instructions and data accesses that a loop can evaluate.

This module does not refer to registers: `qualify.Qualifier` creates these values from them.
"""

from __future__ import annotations

from typing import NamedTuple

SLOTS = "mifb"
SLOT_BITS = 41
ALL_OPCODE_BITS = (1 << SLOT_BITS) - 1


class CodeFilter(NamedTuple):
    """The code range of a tag channel, over bundle addresses.

    A bundle passes when `everything` is set. Otherwise it must be in one of the `blocks`, which are (address, mask) and
    match where the mask has ones, or in one of the `intervals`, which are (low, high) with both ends included; with
    `inverse` it must be in none.
    """

    everything: bool = True
    inverse: bool = False
    blocks: tuple[tuple[int, int], ...] = ()
    intervals: tuple[tuple[int, int], ...] = ()

    def passes(self, address: int) -> bool:
        """Return whether the bundle at the address counts."""
        if self.everything:
            return True
        inside = in_blocks(self.blocks, address) or any(low <= address <= high for low, high in self.intervals)
        return inside != self.inverse


class OpcodeFilter(NamedTuple):
    """The opcode matcher of a tag channel, over the 41 bits of a slot.

    An instruction passes when `everything` is set. Otherwise its slot type must be among the letters of `slots`, and
    its bits must be those of `match` where `mask` has ones.
    """

    everything: bool = True
    slots: str = SLOTS
    match: int = 0
    mask: int = 0

    def passes(self, slot: str, opcode: int) -> bool:
        """Return whether an instruction of a slot type counts."""
        return self.everything or (slot in self.slots and not (opcode ^ self.match) & self.mask)


EVERY_BUNDLE = CodeFilter()
EVERY_OPCODE = OpcodeFilter()


def opcode_filter(slots: str, match: int, mask: int) -> OpcodeFilter:
    """Return the filter of slot types and of the bits that `mask` compares; `everything` is set if it excludes
    nothing."""
    if slots == SLOTS and not mask:
        return EVERY_OPCODE
    return OpcodeFilter(False, slots, match & mask, mask)


def widened(bits: int) -> int:
    """Return the 27 opcode bits of PMC8 and PMC9 at their positions in a slot: 26:13 are bits 40:27, 12:0 bits 12:0.

    Pfmon on Itanium 2, section 4.1.

    >>> hex(widened(0x2000140))
    '0x8000000140'
    """
    return (bits >> 13) << 27 | bits & 0x1FFF


def in_blocks(blocks: tuple[tuple[int, int], ...], address: int) -> bool:
    """Return whether an address matches one of the blocks, in the bits that their masks compare."""
    return any(not (first ^ address) & mask for first, mask in blocks)


LEVELS = 4
"""Privilege levels, 0 to 3."""
PRIVILEGES = 16
"""Privileges at which a block runs: bits 0 and 1 the level, bit 2 PSR.up, bit 3 PSR.pp (block_table.pxd)."""
ALL_PRIVILEGES = (1 << PRIVILEGES) - 1


def privileges(plm: int, enabled: int | None) -> int:
    """Return the privileges at which a monitor counts, a bit each: the levels of a mask (PMC.plm), with one of the two
    bits of the PSR that enable monitors, by its number within a privilege (None: whatever they are).

    >>> hex(privileges(0b1000, 2))
    '0x8080'
    """
    return sum(
        1 << privilege
        for privilege in range(PRIVILEGES)
        if plm >> (privilege & 3) & 1 and (enabled is None or privilege >> enabled & 1)
    )


class InstructionFilter(NamedTuple):
    """Filter of instructions: a code range, an opcode matcher, and a bit for each privilege that passes; ``inner``: the
    code ranges at levels 0 to 2 where they differ from that at level 3."""

    code: CodeFilter = EVERY_BUNDLE
    opcode: OpcodeFilter = EVERY_OPCODE
    privileges: int = ALL_PRIVILEGES
    inner: tuple[CodeFilter, ...] | None = None

    @property
    def codes(self) -> tuple[CodeFilter, ...]:
        """The code range at each level."""
        return (*(self.inner or (self.code,) * (LEVELS - 1)), self.code)


class FilteredSignal(NamedTuple):
    """A filtered architectural signal; ``ranged``: by data ranges."""

    signal: str
    filter: InstructionFilter
    ranged: bool
