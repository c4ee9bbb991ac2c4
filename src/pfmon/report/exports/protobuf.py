"""The subset of Protocol Buffers encoding that a profile needs (Protocol Buffers documentation, "Encoding")."""

from __future__ import annotations

from collections.abc import Iterable

VARINT, LENGTH = 0, 2
"""Wire types."""
WORD = (1 << 64) - 1


def varint(value: int) -> bytes:
    """Encode an integer, seven bits per byte, the lowest first; a negative one as 64 bits of two's complement."""
    value &= WORD
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(field: int, value: int) -> bytes:
    """Encode an integer field; empty for 0, the value of an absent field."""
    return varint(field << 3 | VARINT) + varint(value) if value else b""


def data(field: int, content: bytes) -> bytes:
    """Encode a string field, or an embedded message."""
    return varint(field << 3 | LENGTH) + varint(len(content)) + content


def numbers(field: int, values: Iterable[int]) -> bytes:
    """Encode a repeated integer field, packed."""
    return data(field, b"".join(map(varint, values)))
