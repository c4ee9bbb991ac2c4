"""Assembler text of instructions, as Debian's objdump prints it (without stops and symbols)."""

from __future__ import annotations

import re
from collections.abc import Callable

from pfmon.isa.ia64 import _encodings as decoder
from pfmon.isa.ia64.bundle import slots
from pfmon.isa.ia64.instruction import Row, operand_names
from pfmon.isa.ia64.operands import APPLICATION_REGISTERS, CONTROL_REGISTERS, REGISTERS

_MASK64 = (1 << 64) - 1


def disassemble(unit: str, encoding: int, extension: int = 0, bundle_address: int = 0) -> str | None:
    """The text of a 41-bit slot of ``unit`` (M, I, F, B, X), or None when the encoding is reserved.

    ``extension``: the L slot for X. ``bundle_address``: the base of branch targets.
    """
    row = decoder.find(unit, encoding, extension)
    if row is None:
        return None
    text = _substitute(row, decoder.extract(row.number, encoding, extension, bundle_address))
    qp = encoding & 63 if row.layout.predicated else 0
    if qp:
        return f"(p{qp:02d}) {text}"
    # A conditional branch under p0 with a static taken hint is written br.
    return re.sub(r"^(brl?)\.cond\.sptk", r"\1", text)


def _substitute(row: Row, values: dict[str, int]) -> str:
    printed = {name: _immediate(values[place], how.style) for place, name, how in row.immediates}
    for register in row.registers:
        printed[register.field] = _register(register.file, values[f"r{register.place + 1}"])
    mnemonic, _, operands = row.text.partition(" ")
    names = sorted(operand_names(operands), key=len, reverse=True)
    if names:
        operands = re.sub(r"(?<![a-z.@])(" + "|".join(names) + r")(?![a-z0-9])", lambda m: printed[m[0]], operands)
    return f"{mnemonic} {operands}".rstrip()


def _immediate(value: int, style: str) -> str:
    match style:
        case "hex":
            return f"0x{value & _MASK64:x}"
        case "target":
            return f"{value & _MASK64:x}"
    return str(value)


_PREFIX = {"GR": "r", "FR": "f", "PR": "p", "BR": "b"}
_NAMED = {"AR": ("ar.", "ar", APPLICATION_REGISTERS), "CR": ("cr.", "cr", CONTROL_REGISTERS)}

assert set(_PREFIX) | set(_NAMED) == {file for file, _ in REGISTERS.values()}


def _register(file: str, number: int) -> str:
    if file in _PREFIX:
        return f"{_PREFIX[file]}{number}"
    dotted, plain, names = _NAMED[file]
    return dotted + names[number] if number in names else f"{plain}{number}"


RESERVED = b"\x06" + bytes(15)
"""A bundle with a reserved template, for addresses without code."""


def listing(read: Callable[[int], bytes], first: int, beyond: int) -> list[tuple[int, str]]:
    """Address | slot and text of every instruction from ``first`` to before ``beyond``; ``read`` returns the 16 bytes
    of a bundle, fewer where there is no code."""
    lines = []
    for bundle in range(first, beyond, 16):
        data = read(bundle)
        for one in slots(int.from_bytes(data if len(data) == 16 else RESERVED, "little")) or ():
            text = disassemble(one.unit, one.encoding, one.extension, bundle) or f"reserved encoding {one.encoding:#x}"
            lines.append((bundle | one.number, text + (" ;;" if one.stop else "")))
    return lines
