"""Opcode matchers by mnemonic: match, mask and slot types from the encoding tables, and other instructions that match.

A matcher compares bits with one pattern (Montecito manual section 3.3.6; pfmon on Itanium 2, section 4.1), so several
encodings become the bits that they have in common; decoding finds the other instructions with these bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from pfmon.errors import BadValueError, UnknownNameError
from pfmon.isa.common.instruction_properties import MnemonicPattern
from pfmon.isa.ia64._encodings import find
from pfmon.isa.ia64.disassemble import listing
from pfmon.isa.ia64.formats import SLOT_BITS
from pfmon.isa.ia64.instruction import Row
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS

__all__ = ["families", "listing", "pattern"]

SLOTS = "mifb"
ALL_BITS = (1 << SLOT_BITS) - 1
TRIES = 32
"""Encodings decoded to find whether a row can match."""

SHOWN = 6
"""Instruction names shown in a message, at most."""


def pattern(name: str, slots: str, available: int) -> MnemonicPattern:
    """The pattern for a mnemonic with all its completers: ``br.cloop`` is br.cloop.sptk.few and 15 more.

    ``slots``: only in slots of these types (letters of mifb; none: all); ``available``: the bits that can be compared.
    Raises UnknownNameError, and BadValueError when no slot of these types holds such an instruction.
    """
    wanted = slots or SLOTS
    rows = [row for row in INSTRUCTIONS if is_a(row.mnemonic, name)]
    if not rows:
        raise UnknownNameError("mnemonic", name, _names())
    found = [row for row in rows if _letters(row) & set(wanted)]
    if not found:
        has = "".join(letter for letter in SLOTS if any(letter in _letters(row) for row in rows))
        raise BadValueError(f"{name} goes into slots of type {has}, not {slots}")
    fixed, value = _in_common(found)
    fixed &= available
    letters = "".join(letter for letter in wanted if any(letter in _letters(row) for row in found))
    others = [row for row in INSTRUCTIONS if row not in rows and _letters(row) & set(letters)]
    passing = dict.fromkeys(row.mnemonic for row in others if _passes(row, letters, fixed, value & fixed))
    return MnemonicPattern(letters, value & fixed, fixed, tuple(passing))


def _names() -> list[str]:
    """All names accepted as a mnemonic: with some or all of its completers."""
    parts = (row.mnemonic.split(".") for row in INSTRUCTIONS)
    return sorted({".".join(part[:length]) for part in parts for length in range(1, len(part) + 1)}, key=len)


def is_a(mnemonic: str, name: str) -> bool:
    """Whether a mnemonic is ``name`` with or without further completers."""
    return mnemonic == name or mnemonic.startswith(f"{name}.")


def families(mnemonics: Iterable[str], name: str) -> str:
    """Mnemonics as short text: without completers unless these distinguish them from ``name``."""
    depth = name.count(".") + 1
    kin = name.split(".", maxsplit=1)[0]
    short = dict.fromkeys(".".join(one.split(".")[: depth + 1 if is_a(one, kin) else 1]) for one in mnemonics)
    names = list(short)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _letters(row: Row) -> set[str]:
    """Slot types as the matchers have them: long instructions are I-type (Montecito manual table 3-11)."""
    return {"i" if unit == "X" else unit.lower() for unit in row.units}


def _in_common(rows: Sequence[Row]) -> tuple[int, int]:
    """The bits that all rows fix to the same value, and this value."""
    fixed, value = rows[0].mask & ALL_BITS, rows[0].value
    for row in rows:
        fixed &= row.mask & ~(row.value ^ value)
    return fixed, value & fixed


def _passes(row: Row, letters: str, fixed: int, value: int) -> bool:
    """Whether some encoding that decodes to ``row`` has the pattern's bits."""
    if (row.value ^ value) & row.mask & fixed:
        return False
    pick = Random(row.number)  # fixed, so that messages repeat
    units = [unit for unit in row.units if ("i" if unit == "X" else unit.lower()) in letters]
    free = ALL_BITS & ~(row.mask | fixed)
    for _ in range(TRIES):
        encoding = _tied(row, pick.getrandbits(SLOT_BITS) & free | row.value & ALL_BITS | value, fixed)
        if not (encoding ^ value) & fixed and any(find(unit, encoding) is row for unit in units):
            return True
    return False


def _tied(row: Row, encoding: int, fixed: int) -> int:
    """The encoding with the two fields of a special case made equal, or complements."""
    if row.tie is None:
        return encoding
    one, other = row.layout.fields[row.tie.a], row.layout.fields[row.tie.b]
    if other.mask & fixed:  # the pattern fixes this one: the other follows
        one, other = other, one
    top = (1 << one.width) - 1
    wanted = one.get(encoding) ^ (top if row.tie.complement else 0)
    return encoding & ~other.mask | other.put(wanted)
