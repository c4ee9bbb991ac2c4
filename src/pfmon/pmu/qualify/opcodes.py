"""Opcode matchers: the `mifb:match:mask` of the command line and the values of their registers."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.errors import BadValueError
from pfmon.pmu.model.request import OpcodeMatch
from pfmon.pmu.qualify.filters import SLOTS, OpcodeFilter, opcode_filter, widened
from pfmon.pmu.registers.register_tables import RegisterSet

NARROW = (1 << 27) - 1
FORM = "[mifb]:match:mask or a mnemonic such as br.cloop"


def parse_opcode_match(text: str, bits: int) -> OpcodeMatch:
    """Parse an opcode matcher `[mifb]:match:mask`; no slot letters mean all slots.

    `bits` is the width of match and mask: 27 on Itanium and Itanium 2 (bits 26:13 stand for opcode bits
    40:27, 12:0 for 12:0; pfmon on Itanium 2, section 4.1), 41 on Montecito.

    >>> parse_opcode_match(":0x2000140:0x7ffe3f", 27)
    OpcodeMatch(slots='mifb', match=33554752, mask=8388159, raw=None)
    """
    parts = text.split(":")
    if len(parts) != 3:
        raise BadValueError(f"bad opcode match {text!r}: the form is {FORM}", "opcode_matches_have_three_parts")
    slots = parts[0].lower() or SLOTS
    if set(slots) - set(SLOTS):
        raise BadValueError(
            f"bad slot types {parts[0]!r} in {text!r}: use letters of mifb", "slot_types_are_letters_of_mifb"
        )
    match, mask = (_number(part, bits, text) for part in parts[1:])
    return OpcodeMatch("".join(letter for letter in SLOTS if letter in slots), match, mask)


def _number(text: str, bits: int, whole: str) -> int:
    """Parse an integer of at most ``bits`` bits."""
    try:
        value = int(text, 0)
    except ValueError:
        raise BadValueError(
            f"bad number {text!r} in opcode match {whole!r}: the form is {FORM}", "opcode_bits_are_numbers"
        ) from None
    if not 0 <= value < 1 << bits:
        raise BadValueError(
            f"{text} in opcode match {whole!r} is wider than {bits} bits", "opcode_bits_fit_their_width"
        )
    return value


def narrow_match(matcher: OpcodeMatch, registers: RegisterSet, name: str) -> int:
    """Return the value of PMC8 or PMC9 on Itanium and Itanium 2 (27 opcode bits)."""
    if matcher.raw is not None:
        return matcher.raw
    fields = {letter: int(letter in matcher.slots) for letter in SLOTS}
    register = registers[name]
    value = 0
    for field, content in {**fields, "match": matcher.match, "mask": matcher.mask}.items():
        value |= register.field(field).put(name, content)
    return value


def narrow_filter(fields: Mapping[str, int]) -> OpcodeFilter:
    """Return the filter of PMC8 or PMC9 with these fields, over the 41 bits of a slot."""
    slots = "".join(letter for letter in SLOTS if fields[letter])
    return opcode_filter(slots, widened(fields["match"]), widened(~fields["mask"] & NARROW))


def wide_match(matcher: OpcodeMatch, registers: RegisterSet, number: int) -> tuple[int, int]:
    """Return Montecito's pair of registers for a matcher: slots and mask, and match (tables 3-11 and 3-12)."""
    name = f"pmc{number}"
    first = registers[name]
    value = first.field("mask").put(name, matcher.mask)
    for letter in SLOTS:
        value |= first.field(letter).put(name, int(letter in matcher.slots))
    second = f"pmc{number + 1}"
    return value, registers[second].field("match").put(second, matcher.match)


def opcode_channels(matchers: tuple[OpcodeMatch | None, OpcodeMatch | None], tagged: set[int]) -> set[int]:
    """Return the tag channels that opcode matchers constrain.

    Matcher 0 serves channels 0 and 2, matcher 1 channels 1 and 3 (Montecito manual section 3.3.6). If tagged
    instructions of some of its channels are counted, it constrains only those; otherwise both.
    """
    channels = set()
    for number, matcher in enumerate(matchers):
        if matcher:
            own = {number, number + 2}
            channels |= (own & tagged) or own
    return channels
