"""Symbols of an ELF file: which function or object an address belongs to, and the address of a name.

Any class and byte order: reports use it for every engine. Symbols are read when the first one is asked for.
"""

from __future__ import annotations

import bisect
import struct

from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHT_SYMTAB, SHT_DYNSYM = 2, 11
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_TLS, STT_GNU_IFUNC = 0, 1, 2, 6, 10
KINDS = {STT_NOTYPE: "label", STT_OBJECT: "object", STT_FUNC: "function", STT_GNU_IFUNC: "function"}
RANK = {"function": 0, "object": 1, "label": 2}
SHN_UNDEF, SHN_ABS = 0, 0xFFF1


class Symbol(NamedTuple):
    """A name for [address, address + size); size is 0 where the file does not say."""

    address: int
    size: int
    name: str
    kind: str  # "function", "object" or "label"


class Location(NamedTuple):
    """An address as a report shows it."""

    symbol: Symbol
    offset: int

    def __str__(self) -> str:
        return f"{self.symbol.name}+{self.offset:#x}" if self.offset else self.symbol.name


class SymbolTable:
    """The symbols of one file, at the addresses that a load bias gives them.

    A damaged symbol table is as good as none: a program runs without one.
    """

    def __init__(self, data: bytes, bias: int = 0) -> None:
        self._data = data
        self._bias = bias
        self._symbols: list[Symbol] | None = None
        self._addresses: list[int] = []
        self._names: dict[str, Symbol] = {}

    def symbols(self) -> list[Symbol]:
        """All symbols by address; of several at one address the best one last."""
        if self._symbols is None:
            found = set(_read(self._data, self._bias))
            self._symbols = sorted(found, key=lambda s: (s.address, -RANK[s.kind], s.size, s.name))
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
        symbols = self.symbols()
        i = bisect.bisect_right(self._addresses, address) - 1
        for symbol in reversed(symbols[max(0, i - 8) : i + 1]):
            if symbol.address <= address < symbol.address + symbol.size:
                return Location(symbol, address - symbol.address)
        if i >= 0 and symbols[i].size == 0:
            return Location(symbols[i], address - symbols[i].address)
        return None


class _Layout(NamedTuple):
    """Field formats of one ELF class and byte order."""

    section_table: struct.Struct  # e_shoff with what precedes it
    section_counts: tuple[int, int]  # offset of e_shentsize
    section: struct.Struct  # sh_name sh_type sh_flags sh_addr sh_offset sh_size sh_link
    symbol: struct.Struct
    wide: bool


def _layout(data: bytes) -> _Layout | None:
    if len(data) < 64 or data[:4] != b"\x7fELF" or data[4] not in (1, 2) or data[5] not in (1, 2):
        return None
    order = "<" if data[5] == 1 else ">"
    if data[4] == 2:
        return _Layout(
            struct.Struct(order + "40xQ"),
            (58, 60),
            struct.Struct(order + "IIQQQQI20x"),
            struct.Struct(order + "IBBHQQ"),
            True,
        )
    return _Layout(
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
    order = "<" if data[5] == 1 else ">"
    (table,) = layout.section_table.unpack_from(data)
    entry_size, count = struct.unpack_from(order + "HH", data, layout.section_counts[0])
    if entry_size != layout.section.size or table + count * entry_size > len(data):
        return
    sections = [layout.section.unpack_from(data, table + i * entry_size) for i in range(count)]
    for _, kind, _, _, offset, size, link in sections:
        if kind in (SHT_SYMTAB, SHT_DYNSYM) and link < count:
            names_at, names_size = sections[link][4:6]
            strings = data[names_at : names_at + names_size]
            entries = data[offset : offset + size]
            usable = len(entries) - len(entries) % layout.symbol.size
            yield from _symbols(entries[:usable], strings, layout, bias)


def _symbols(entries: bytes, strings: bytes, layout: _Layout, bias: int) -> Iterator[Symbol]:
    for fields in layout.symbol.iter_unpack(entries):
        if layout.wide:
            name, info, _, section, value, size = fields
        else:
            name, value, size, info, _, section = fields
        kind = KINDS.get(info & 15)
        end = strings.find(b"\0", name) if name else -1
        if kind is None or section in (SHN_UNDEF, SHN_ABS) or end <= name:
            continue
        yield Symbol(value + bias, size, strings[name:end].decode("utf-8", "backslashreplace"), kind)
