"""Ranges by name: a symbol, or a symbol plus an offset, as start and end of the code or data that it names.

Pfmon on Itanium 2, section 8.1: code symbols for code ranges, data symbols for data ranges; a size that the symbol
table lacks is the distance to the next symbol.
"""

import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.program.image import Image, Program
from pfmon.program.symbols import Symbol, SymbolTable

BUNDLE = 16
EXECUTABLE = 1
"""PF_X of a segment's flags."""

OPTION = {"code": "--irange and --checkpoint-func want code", "data": "--drange wants data"}


class _Known(NamedTuple):
    """The symbols of one file in memory, and what lies where."""

    image: Image
    table: SymbolTable

    def find(self, name: str, kind: str) -> Symbol | None:
        """The symbol of that name; of several the one of the kind that is wanted."""
        named = [symbol for symbol in self.table.symbols() if symbol.name == name]
        right = [symbol for symbol in named if self.kind(symbol) == kind]
        best = right or named
        return max(best, key=lambda symbol: symbol.size) if best else None

    def kind(self, symbol: Symbol) -> str:
        """``code`` or ``data``; a label is what its segment is."""
        if symbol.kind != "label":
            return "code" if symbol.kind == "function" else "data"
        limits = self._segment(symbol.address)
        return "code" if limits and limits[2] & EXECUTABLE else "data"

    def end(self, symbol: Symbol) -> int:
        """The first address beyond a symbol: by its size, else the next symbol or the end of its segment."""
        end = symbol.address + symbol.size
        if not symbol.size:
            addresses = [other.address for other in self.table.symbols()]
            after = bisect.bisect_right(addresses, symbol.address)
            limits = self._segment(symbol.address)
            ends = [addresses[after]] if after < len(addresses) else []
            ends += [limits[1]] if limits else []
            end = min(ends, default=symbol.address)
        return end + -end % BUNDLE if self.kind(symbol) == "code" else end

    def _segment(self, address: int) -> tuple[int, int, int] | None:
        """Start, end and flags of the segment that an address is in."""
        for segment in self.image.elf.segments:
            start = segment.address + self.image.bias
            if start <= address < start + segment.memory_size:
                return start, start + segment.memory_size, segment.flags
        return None


def resolver(
    program: Program, kind: str = "code", symbol_file: bytes | None = None, approximated: set[str] | None = None
) -> Callable[[str], tuple[int, int]]:
    """How ``SYMBOL`` and ``SYMBOL+OFFSET`` become start and end, in the program and its interpreter.

    ``kind``: code or data. ``symbol_file``: an ELF file whose symbols stand for those of a stripped program.
    ``approximated`` gets the names of symbols without a size. The function raises PfmonError for a name that is not
    there or names something else.
    """
    files = [_Known(program.image, SymbolTable(symbol_file or program.image.data, program.image.bias))]
    if program.interpreter is not None:
        files.append(_Known(program.interpreter, SymbolTable(program.interpreter.data, program.interpreter.bias)))

    def resolve(text: str) -> tuple[int, int]:
        name, plus, offset = text.partition("+")
        known, symbol = _named(files, name.strip(), kind)
        start, end = symbol.address, known.end(symbol)
        if approximated is not None and not symbol.size:
            approximated.add(symbol.name)
        if plus:
            start += _offset(offset, text)
        if start >= end:
            raise BadValueError(f"{text}: {name} has {end - symbol.address} bytes only")
        return start, end

    return resolve


def _named(files: Sequence[_Known], name: str, kind: str) -> tuple[_Known, Symbol]:
    """The symbol of a name, and where it is; PfmonError names the nearest ones."""
    for known in files:
        symbol = known.find(name, kind)
        if symbol is not None:
            if known.kind(symbol) != kind:
                raise BadValueError(f"{name} is {known.kind(symbol)}; {OPTION[kind]}")
            return known, symbol
    right = [symbol.name for known in files for symbol in known.table.symbols() if known.kind(symbol) == kind]
    if not right:
        raise PfmonError(
            f"{name}: {files[0].image.path} has no {kind} symbols (it is stripped); give the range as numbers, "
            "or --symbol-file=FILE with the symbols"
        )
    raise UnknownNameError(f"{kind} symbol", name, right)


def _offset(text: str, whole: str) -> int:
    """What stands behind the plus."""
    try:
        offset = int(text, 0)
    except ValueError:
        offset = -1
    if offset < 0:
        raise BadValueError(f"{whole}: the offset of a symbol is a number of bytes, such as main+0x40")
    return offset
