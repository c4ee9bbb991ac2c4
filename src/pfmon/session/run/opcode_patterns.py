"""Opcode matchers by mnemonic: match and mask of the bits that the mnemonic's encodings have in common.

A matcher compares bits with one pattern (Montecito manual section 3.3.6; pfmon on Itanium 2, section 4.1).
"""

from __future__ import annotations

from typing import NamedTuple

from pfmon.engine import registry
from pfmon.pmu.model.request import OpcodeMatch
from pfmon.pmu.qualify.filters import ALL_OPCODE_BITS, SLOT_BITS
from pfmon.stream._stream import InstructionSet

NARROW = 27
"""Width of a pattern on Itanium and Itanium 2: opcode bits 40:27 and 12:0."""

NARROW_BITS = 0x1FFF | (1 << SLOT_BITS) - (1 << 27)


class MnemonicMatcher(NamedTuple):
    """A matcher for a mnemonic, and an abbreviated list of other mnemonics that it also matches."""

    matcher: OpcodeMatch
    others: tuple[str, ...]
    families: str


def pattern(name: str, slots: str, bits: int) -> MnemonicMatcher:
    """Return the matcher of a mnemonic with all its completers: ``br.cloop`` is br.cloop.sptk.few and 15 more.

    ``slots``: only in slots of these types (letters of mifb; none: all); ``bits``: width of the matcher, 27 or 41.
    Raises UnknownNameError, and BadValueError if no slot of these types holds such an instruction.
    """
    instructions = registry.instructions(InstructionSet.IA64)
    found = instructions.pattern(name, slots, NARROW_BITS if bits == NARROW else ALL_OPCODE_BITS)
    matcher = OpcodeMatch(found.slots, _packed(found.value, bits), _packed(ALL_OPCODE_BITS & ~found.mask, bits))
    return MnemonicMatcher(matcher, found.others, instructions.families(found.others, name))


def _packed(encoding: int, bits: int) -> int:
    """Return opcode bits in the layout of a matcher of that width."""
    return (encoding >> 27) << 13 | encoding & 0x1FFF if bits == NARROW else encoding
