"""The instructions in a range of code, as text."""

from __future__ import annotations

from collections.abc import Callable

from pfmon.isa.ia64.bundle import slots
from pfmon.isa.ia64.disassemble import disassemble

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
