"""Symbols of an ELF file: which function or object an address belongs to, and the address of a name.

Any class and byte order: reports use it for every engine. A function is where its code is, also where its symbol stands
for a descriptor. Symbols are read when the first one is asked for.
"""

from __future__ import annotations

import bisect
import struct

from pfmon.light_typing import NamedTuple
from pfmon.program.elf import DESCRIPTORS, EF_PPC64_ABI
from pfmon.program.machines import EM_PPC64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


SHT_SYMTAB, SHT_DYNSYM = 2, 11
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_TLS, STT_GNU_IFUNC = 0, 1, 2, 6, 10
KINDS = {STT_NOTYPE: "label", STT_OBJECT: "object", STT_FUNC: "function", STT_GNU_IFUNC: "function"}
STB_WEAK = 2
RANK = {"function": 0, "object": 1, "label": 2}
SHN_UNDEF, SHN_ABS = 0, 0xFFF1


class Symbol(NamedTuple):
    """A name for [address, address + size); size is 0 where the file does not say. ``weak``: another name may stand for
    the same."""

    address: int
    size: int
    name: str
    kind: str  # "function", "object" or "label"
    weak: bool = False


class Location(NamedTuple):
    """An address as a report shows it."""

    symbol: Symbol
    offset: int

    def __str__(self) -> str:
        return f"{self.symbol.name}+{self.offset:#x}" if self.offset else self.symbol.name


class SymbolTable:
    """The symbols of one file, at the addresses that a load bias gives them.

    A damaged symbol table is as good as none: a program runs without one. What is at ``end`` and behind it belongs to
    another file, also where the last label, which is often _end, has no size.
    """

    def __init__(self, data: bytes, bias: int = 0, end: int = 1 << 64) -> None:
        self.end = end
        self._data = data
        self._bias = bias
        self._symbols: list[Symbol] | None = None
        self._addresses: list[int] = []
        self._names: dict[str, Symbol] = {}

    def symbols(self) -> list[Symbol]:
        """All symbols by address; of several at one address the best one last."""
        if self._symbols is None:
            found = set(_read(self._data, self._bias))
            self._symbols = sorted(found, key=_order)
            self._addresses = [s.address for s in self._symbols]
            for symbol in sorted(self._symbols, key=lambda s: -RANK[s.kind]):
                self._names[symbol.name] = symbol
        return self._symbols

    def find(self, name: str) -> Symbol | None:
        """The symbol of that name; functions go before objects, these before labels."""
        self.symbols()
        return self._names.get(name)

    def nearest(self, address: int) -> Location | None:
        """The symbol that contains the address, or the last one before it if that has no size."""
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
    """By address; of several at one the best one last: C libraries have ``__sin`` and ``sinf64`` beside ``sin``."""
    name = symbol.name
    reserved = len(name) - len(name.lstrip("_"))
    return symbol.address, -RANK[symbol.kind], symbol.size, -reserved, not symbol.weak, -len(name), name


class _Layout(NamedTuple):
    """Field formats of one ELF class and byte order."""

    order: str  # struct's
    section_table: struct.Struct  # e_shoff with what precedes it
    section_counts: tuple[int, int]  # offsets of e_shentsize and e_shnum; e_shstrndx follows
    section: struct.Struct  # sh_name sh_type sh_flags sh_addr sh_offset sh_size sh_link
    symbol: struct.Struct
    wide: bool


def _layout(data: bytes) -> _Layout | None:
    if len(data) < 64 or data[:4] != b"\x7fELF" or data[4] not in (1, 2) or data[5] not in (1, 2):
        return None
    order = "<" if data[5] == 1 else ">"
    if data[4] == 2:
        return _Layout(
            order,
            struct.Struct(order + "40xQ"),
            (58, 60),
            struct.Struct(order + "IIQQQQI20x"),
            struct.Struct(order + "IBBHQQ"),
            True,
        )
    return _Layout(
        order,
        struct.Struct(order + "32xI"),
        (46, 48),
        struct.Struct(order + "IIIIIII12x"),
        struct.Struct(order + "IIIBBH"),
        False,
    )


def _read(data: bytes, bias: int) -> Iterator[Symbol]:
    """Symbols of .symtab and .dynsym; stops at the first inconsistency."""
    layout = _layout(data)
    if layout is None:
        return
    (table,) = layout.section_table.unpack_from(data)
    entry_size, count, names = struct.unpack_from(layout.order + "HHH", data, layout.section_counts[0])
    if entry_size != layout.section.size or table + count * entry_size > len(data):
        return
    sections = [layout.section.unpack_from(data, table + i * entry_size) for i in range(count)]
    code = _descriptors(data, layout, sections, names)
    for _, kind, _, _, offset, size, link in sections:
        if kind in (SHT_SYMTAB, SHT_DYNSYM) and link < count:
            names_at, names_size = sections[link][4:6]
            strings = data[names_at : names_at + names_size]
            entries = data[offset : offset + size]
            usable = len(entries) - len(entries) % layout.symbol.size
            for symbol in _symbols(entries[:usable], strings, layout):
                yield symbol._replace(address=code.get(symbol.address, symbol.address) + bias)


def _descriptors(data: bytes, layout: _Layout, sections: list[tuple[int, ...]], names: int) -> dict[int, int]:
    """By the address of a function descriptor that of the code, where symbols of functions stand for descriptors:
    64-bit PowerPC, before version 2 of its ABI (elf.py). Descriptors are in the section .opd; those that are filled in
    when the program is loaded are left out."""
    if int.from_bytes(data[18:20], "big" if layout.order == ">" else "little") != EM_PPC64 or names >= len(sections):
        return {}
    if struct.unpack_from(layout.order + "I", data, 48)[0] & EF_PPC64_ABI >= DESCRIPTORS:
        return {}
    found: dict[int, int] = {}
    for name, _, _, address, offset, size, _ in sections:
        at = sections[names][4] + name
        if data[at : at + 5] == b".opd\0" and offset + size <= len(data):
            words = struct.unpack_from(f"{layout.order}{size // 8}Q", data, offset)
            found |= {address + 8 * i: word for i, word in enumerate(words) if word}
    return found


def _symbols(entries: bytes, strings: bytes, layout: _Layout) -> Iterator[Symbol]:
    for fields in layout.symbol.iter_unpack(entries):
        if layout.wide:
            name, info, _, section, value, size = fields
        else:
            name, value, size, info, _, section = fields
        kind = KINDS.get(info & 15)
        end = strings.find(b"\0", name) if name else -1
        if kind is None or section in (SHN_UNDEF, SHN_ABS) or end <= name:
            continue
        text = strings[name:end].decode("utf-8", "backslashreplace")
        yield Symbol(value, size, text, kind, weak=info >> 4 == STB_WEAK)
