"""Messages as Protocol Buffers encode them (Protocol Buffers documentation, "Encoding"): as much as a profile needs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

VARINT, LENGTH = 0, 2
"""Wire types."""
WORD = (1 << 64) - 1


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number as 64 bits of two's complement."""
    value &= WORD
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(field: int, value: int) -> bytes:
    """A field of an integer type; 0 is what a field is that is not there."""
    return varint(field << 3 | VARINT) + varint(value) if value else b""


def data(field: int, content: bytes) -> bytes:
    """A text, or a message in a message."""
    return varint(field << 3 | LENGTH) + varint(len(content)) + content


def numbers(field: int, values: Iterable[int]) -> bytes:
    """A repeated field of an integer type, packed."""
    return data(field, b"".join(map(varint, values)))
