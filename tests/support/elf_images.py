"""Small ELF images for system mode, put together field by field (System V ABI, chapters 4 and 5)."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

MB = 1 << 20
EM_IA_64, EM_X86_64 = 50, 62
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3


class Piece(NamedTuple):
    """A segment: its bytes, virtual and physical address, size in memory (0: that of the bytes), and its type."""

    content: bytes
    virtual: int
    physical: int
    memory_size: int = 0
    kind: int = PT_LOAD


def elf_image(
    entry: int, pieces: Sequence[Piece], *, machine: int = EM_IA_64, kind: int = 2, cut: int | None = None
) -> bytes:
    """The bytes of an ELF file, or only ``cut`` of them."""
    table = b""
    content = b""
    first = 64 + 56 * len(pieces)
    for piece in pieces:
        size = piece.memory_size or len(piece.content)
        place = first + len(content)
        table += struct.pack(
            "<IIQQQQQQ", piece.kind, 7, place, piece.virtual, piece.physical, len(piece.content), size, 16
        )
        content += piece.content
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, entry, 64, 0, 0x10, 64, 56, len(pieces), 64, 0, 0)
    return (head + table + content)[:cut]


def flat_image(code: bytes, address: int = MB, memory_size: int = 0) -> bytes:
    """Code at one address, virtual and physical, which is its entry."""
    return elf_image(address, [Piece(code, address, address, memory_size)])
