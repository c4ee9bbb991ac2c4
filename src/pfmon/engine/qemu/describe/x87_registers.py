"""Registers of the x87 stack that instructions read and write, by opcode; relative to the top before the
instruction, so a push writes st(7).

Source: Intel SDM, volume 2, appendix B.17 (floating-point encodings), and the instruction reference.
"""

from __future__ import annotations

from functools import cache

IN_MEMORY = {
    "d8 da dc de": {"0 1 4 5 6 7": "0>0", "2 3": "0>"},
    "d9": {"0": ">7", "2 3": "0>"},
    "db": {"0 5": ">7", "1 2 3 7": "0>"},
    "dd": {"0": ">7", "1 2 3": "0>", "4": ">01234567", "6": "01234567>"},
    "df": {"0 4 5": ">7", "1 2 3 6 7": "0>"},
}
"""First byte -> the field reg of ModRM -> registers read > registers written; the other operand is in memory."""

ON_STACK = {
    "d8": {"c0-cf e0-ff": "0i>0", "d0-df": "0i>"},
    "d9": {
        "c0-c7": "i>7",
        "c8-cf": "0i>0i",
        "e0-e1 f0 fa fc fe-ff": "0>0",
        "e4-e5": "0>",
        "e8-ee": ">7",
        "f1 f3 f9": "01>1",
        "f2 f4 fb": "0>07",
        "f5 f8 fd": "01>0",
    },
    "da": {"c0-df": "0i>0", "e9": "01>"},
    "db": {"c0-df": "0i>0", "e8-f7": "0i>"},
    "dc": {"c0-cf e0-ff": "0i>i", "d0-df": "0i>"},
    "dd": {"d0-df": "0>i", "e0-ef": "0i>"},
    "de": {"c0-cf e0-ff": "0i>i", "d9": "01>"},
    "df": {"e8-f7": "0i>"},
}
"""First byte -> bytes ModRM -> registers read > registers written; i: the last three bits' register."""


@cache  # each process of a program that is followed asks for it
def x87_registers() -> tuple[int, ...]:
    """Bits of the registers read, and of those written << 8, by the last three bits of the first byte << 8 | ModRM."""
    found = [0] * (8 << 8)
    for opcodes, fields in IN_MEMORY.items():
        for field, uses in fields.items():
            for modrm in (number for number in range(0xC0) if str(number >> 3 & 7) in field.split()):
                for opcode in opcodes.split():
                    found[(int(opcode, 16) & 7) << 8 | modrm] = _bits(uses, modrm)
    for opcode, ranges in ON_STACK.items():
        for span, uses in ranges.items():
            for modrm in _numbers(span):
                found[(int(opcode, 16) & 7) << 8 | modrm] = _bits(uses, modrm)
    return tuple(found)


def _numbers(spans: str) -> list[int]:
    """The bytes of hexadecimal ranges."""
    ends = [span.partition("-") for span in spans.split()]
    return [number for low, _, high in ends for number in range(int(low, 16), int(high or low, 16) + 1)]


def _bits(uses: str, modrm: int) -> int:
    read, _, written = uses.replace("i", str(modrm & 7)).partition(">")
    return _mask(read) | _mask(written) << 8


def _mask(numbers: str) -> int:
    return sum({1 << int(number) for number in numbers})
