"""Symbols of an ELF file: lookup of the function or object of an address, and of the address of a name.

Any class and byte order is supported, since reports use it for every engine. A function's address is that of its code,
even if its symbol refers to a descriptor. Symbols are read on first use.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pfmon.program.elf import DESCRIPTORS, EF_PPC64_ABI
from pfmon.program.elf_machine import EM_PPC64
from pfmon.program.elf_sections import ElfSections

SHT_SYMTAB, SHT_RELA, SHT_DYNSYM = 2, 4, 11
RELA_BYTES = 24
R_PPC64_RELATIVE = 22
"""Relocation of a word by the load bias and an addend (64-bit PowerPC ELF ABI Supplement 1.9, section 4.5.1)."""
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_FILE, STT_TLS, STT_GNU_IFUNC = 0, 1, 2, 4, 6, 10
KINDS = {STT_NOTYPE: "label", STT_OBJECT: "object", STT_FUNC: "function", STT_GNU_IFUNC: "function"}
STB_LOCAL, STB_WEAK = 0, 2
RANK = {"function": 0, "object": 1, "label": 2}
SHN_UNDEF, SHN_ABS = 0, 0xFFF1


class Symbol(NamedTuple):
    """A name for [address, address + size); size is 0 if the file does not give it. ``weak``: another name may have the
    same address. ``file``: the source file of a static one (STT_FILE), "" if the table does not say."""

    address: int
    size: int
    name: str
    kind: str  # "function", "object" or "label"
    weak: bool = False
    file: str = ""


class Location(NamedTuple):
    """An address in a report."""

    symbol: Symbol
    offset: int

    def __str__(self) -> str:
        return f"{self.symbol.name}+{self.offset:#x}" if self.offset else self.symbol.name


class SymbolTable:
    """The symbols of one file, at addresses with the load bias.

    A damaged symbol table counts as empty: a program runs without one. Addresses from ``end`` on belong to another
    file, even if the last label, which is often _end, has no size.
    """

    def __init__(self, data: bytes, bias: int = 0, end: int = 1 << 64, loaded: bytes = b"") -> None:
        """``loaded``: the file in memory, if that is another one."""
        self.end = end
        self._loaded = loaded or data
        self._data = data
        self._bias = bias
        self._symbols: list[Symbol] | None = None
        self._addresses: list[int] = []
        self._names: dict[str, Symbol] = {}

    def symbols(self) -> list[Symbol]:
        """All symbols by address; the preferred one of several at one address is last."""
        if self._symbols is None:
            self.take(set(_read(self._data, self._bias, self._loaded)))
        return self._symbols or []

    def take(self, found: Iterable[Symbol]) -> None:
        """Hold these symbols in place of those of the file."""
        self._symbols = sorted(found, key=_order)
        self._addresses = [s.address for s in self._symbols]
        for symbol in sorted(self._symbols, key=lambda s: -RANK[s.kind]):
            self._names[symbol.name] = symbol

    def find(self, name: str) -> Symbol | None:
        """Return the symbol of a name; functions take precedence over objects, these over labels."""
        self.symbols()
        return self._names.get(name)

    def nearest(self, address: int) -> Location | None:
        """Return the symbol that contains the address, or the last one before it if that has no size."""
        if address >= self.end:
            return None
        symbols = self.symbols()
        i = bisect.bisect_right(self._addresses, address) - 1
        for symbol in reversed(symbols[max(0, i - 8) : i + 1]):
            if symbol.address <= address < symbol.address + symbol.size:
                return Location(symbol, address - symbol.address)
        if i >= 0 and symbols[i].size == 0:
            return Location(symbols[i], address - symbols[i].address)
        return None


def _order(symbol: Symbol) -> tuple[int, int, int, int, bool, int, str]:
    """Return the sort key: by address, the preferred name last; C libraries have ``__sin`` and ``sinf64`` beside
    ``sin``."""
    name = symbol.name
    reserved = len(name) - len(name.lstrip("_"))
    return symbol.address, -RANK[symbol.kind], symbol.size, -reserved, not symbol.weak, -len(name), name


def _read(data: bytes, bias: int, loaded: bytes) -> Iterator[Symbol]:
    """Yield the symbols of .symtab and .dynsym; none of a damaged file."""
    sections = ElfSections(data)
    code = _descriptors(loaded)
    for section in sections.all:
        if section.kind in (SHT_SYMTAB, SHT_DYNSYM) and section.link < len(sections.all):
            strings = sections.content(sections.all[section.link])
            for symbol in _symbols(sections.content(section), strings, sections):
                yield symbol._replace(address=code.get(symbol.address, symbol.address) + bias)


def _descriptors(data: bytes) -> dict[int, int]:
    """Return function descriptor's address -> code address, for 64-bit PowerPC before version 2 of its ABI, where
    function symbols refer to descriptors (elf.py). Descriptors are in the section .opd; in shared objects relocations
    by the load bias fill them in at load time."""
    if data[18:20] not in (EM_PPC64.to_bytes(2, "big"), EM_PPC64.to_bytes(2, "little")):
        return {}
    sections = ElfSections(data)
    if not sections.all or struct.unpack_from(sections.order + "I", data, 48)[0] & EF_PPC64_ABI >= DESCRIPTORS:
        return {}
    found: dict[int, int] = {}
    for section in sections.all:
        content = sections.content(section)
        if section.name == ".opd" and len(content) == section.size:
            words = struct.unpack_from(f"{sections.order}{section.size // 8}Q", content)
            found |= {section.address + 8 * i: word for i, word in enumerate(words) if word}
        if section.kind == SHT_RELA:
            whole = content[: len(content) - len(content) % RELA_BYTES]
            entries = struct.iter_unpack(f"{sections.order}QQQ", whole)
            found |= {place: addend for place, what, addend in entries if what & 0xFFFFFFFF == R_PPC64_RELATIVE}
    return found


def _symbols(entries: bytes, strings: bytes, sections: ElfSections) -> Iterator[Symbol]:
    """Yield the symbols of a table. Those of a source file that are local follow its symbol of type STT_FILE (System V
    ABI, chapter 4, symbol table)."""
    file = ""
    layout = struct.Struct(sections.order + ("IBBHQQ" if sections.wide else "IIIBBH"))
    for fields in layout.iter_unpack(entries[: len(entries) - len(entries) % layout.size]):
        if sections.wide:
            name, info, _, section, value, size = fields
        else:
            name, value, size, info, _, section = fields
        kind = KINDS.get(info & 15)
        end = strings.find(b"\0", name) if name else -1
        if info & 15 == STT_FILE:
            file = strings[name:end].decode("utf-8", "backslashreplace") if end > name else ""
            continue
        if kind is None or section in (SHN_UNDEF, SHN_ABS) or end <= name:
            continue
        text = strings[name:end].decode("utf-8", "backslashreplace")
        own = file if info >> 4 == STB_LOCAL else ""
        yield Symbol(value, size, text, kind, weak=info >> 4 == STB_WEAK, file=own)
