"""Sections of an ELF file, of any class and byte order."""

from __future__ import annotations

import struct
from typing import NamedTuple

SHT_NOBITS = 8


class Section(NamedTuple):
    """A section's header (System V ABI, chapter 4); ``link`` is the number of another section."""

    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int


class ElfSections:
    """The sections of one file. ``order``: struct's byte order; ``wide``: 64-bit; a damaged section table counts as
    empty."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.all: list[Section] = []
        self.order = ""
        self.wide = False
        if len(data) >= 64 and data[:4] == b"\x7fELF" and data[4] in (1, 2) and data[5] in (1, 2):
            self.order = "<" if data[5] == 1 else ">"
            self.wide = data[4] == 2
            self._read()

    def _read(self) -> None:
        # e_shoff, offset of e_shentsize, e_shnum and e_shstrndx; sh_name sh_type sh_addr sh_offset sh_size sh_link
        (table,) = struct.unpack_from(self.order + ("40xQ" if self.wide else "32xI"), self.data)
        size, count, names = struct.unpack_from(self.order + "HHH", self.data, 58 if self.wide else 46)
        header = struct.Struct(self.order + ("II8xQQQI20x" if self.wide else "II4xIIII12x"))
        if size != header.size or table + count * size > len(self.data):
            return
        rows = [header.unpack_from(self.data, table + i * size) for i in range(count)]
        start, length = rows[names][3:5] if names < count else (0, 0)
        texts = self.data[start : start + length]
        self.all = [Section(_text(texts, row[0]), *row[1:]) for row in rows]

    def content(self, section: Section) -> bytes:
        """Return the bytes of a section; none for one that occupies memory only."""
        return b"" if section.kind == SHT_NOBITS else self.data[section.offset : section.offset + section.size]

    def find(self, name: str) -> bytes:
        """Return the bytes of a section by name; b"": there is none."""
        return next((self.content(one) for one in self.all if one.name == name), b"")


def _text(texts: bytes, at: int) -> str:
    end = texts.find(b"\0", at)
    return texts[at:end].decode("utf-8", "replace") if 0 <= at <= end else ""
