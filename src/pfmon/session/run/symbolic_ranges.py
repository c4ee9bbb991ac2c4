"""Ranges by name: start and end of a symbol, a symbol plus an offset, or source lines.

Pfmon on Itanium 2, section 8.1: code symbols for code ranges, data symbols for data ranges; a size missing from the
symbol table is the distance to the next symbol. The prefix ``OBJECT:`` selects a shared object.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pfmon.errors import BadValueError, PfmonError, UnknownNameError, UnknownObjectError
from pfmon.program.demangle import CLONE, demangled, plain_name
from pfmon.program.image import Image
from pfmon.program.line_tables import BUNDLE, IN_BUNDLES, LineTables
from pfmon.program.loaded_objects import LoadedObjects, ObjectFile
from pfmon.program.source_texts import SourceFile
from pfmon.program.symbols import Symbol, SymbolTable

LINES = re.compile(r"(?P<file>[^:]+):(?P<first>\d+)(?:-(?P<last>\d+))?")
"""Matches source lines."""
SOURCE = re.compile(r"\.[A-Za-z][\w+]{0,3}$")
"""Matches the suffix of a source file's name."""
OF_OBJECT = re.compile(r"(?P<object>[^:\s]+):(?P<name>[^:].*)")
"""Matches a name in a shared object; C++ names contain double colons."""

EXECUTABLE = 1
"""PF_X of a segment's flags."""

OPTION = {"code": "--irange and --checkpoint-func want code", "data": "--drange wants data"}


class _KnownSymbols(NamedTuple):
    """The symbols and segments of one file in memory."""

    image: Image
    table: SymbolTable
    lines: LineTables

    def find(self, name: str, kind: str) -> Symbol | None:
        """Return the symbol of a mangled name, a demangled one, or one demangled without parameters; of several the one
        of this kind. BadValueError: the name has overloads with different parameters."""
        symbols = self.table.symbols()
        named = [symbol for symbol in symbols if symbol.name == name]
        named = named or [symbol for symbol in symbols if demangled(symbol.name) == name]
        right = [symbol for symbol in named if self.kind(symbol) == kind]
        best = right or named or self._overloads(name)
        return max(best, key=lambda symbol: symbol.size) if best else None

    def _overloads(self, name: str) -> list[Symbol]:
        """Return the functions with this name without parameters. They must be one function: constructors have several
        symbols."""
        named = [(symbol, demangled(symbol.name)) for symbol in self.table.symbols()]
        found = [(symbol, full) for symbol, full in named if name in full and plain_name(full) == name]
        found = [(symbol, full) for symbol, full in found if CLONE not in full] or found
        several = sorted({full for _, full in found})
        if len(several) > 1:
            raise BadValueError(f"{name} is several functions: {', '.join(several)}")
        return [symbol for symbol, _ in found]

    def kind(self, symbol: Symbol) -> str:
        """Return ``code`` or ``data``; labels have the kind of their segment."""
        if symbol.kind != "label":
            return "code" if symbol.kind == "function" else "data"
        limits = self._segment(symbol.address)
        return "code" if limits and limits[2] & EXECUTABLE else "data"

    def end(self, symbol: Symbol) -> int:
        """Return the first address after a symbol: by its size, else the next symbol or the end of its segment."""
        end = symbol.address + symbol.size
        if not symbol.size:
            addresses = [other.address for other in self.table.symbols()]
            after = bisect.bisect_right(addresses, symbol.address)
            limits = self._segment(symbol.address)
            ends = [addresses[after]] if after < len(addresses) else []
            ends += [limits[1]] if limits else []
            end = min(ends, default=symbol.address)
        in_bundles = self.image.elf.machine in IN_BUNDLES and self.kind(symbol) == "code"
        return end + -end % BUNDLE if in_bundles else end

    def _segment(self, address: int) -> tuple[int, int, int] | None:
        """Return start, end and flags of an address's segment."""
        segment = self.image.segment(address)
        if segment is None:
            return None
        start = segment.address + self.image.bias
        return start, start + segment.memory_size, segment.flags


def resolver(
    files: Sequence[ObjectFile], kind: str = "code", approximated: set[str] | None = None
) -> Callable[[str], tuple[int, int]]:
    """Return a function from ``SYMBOL``, ``SYMBOL+OFFSET``, ``FILE:LINE`` or ``FILE:LINE-LINE``, optionally prefixed by
    ``OBJECT:``, to start and end. A name refers to the first of ``files`` that has it; the first file is the program.

    ``kind``: code or data. ``approximated`` collects the names of symbols without a size, and lines with code in
    several places, all of which the range covers. The function raises PfmonError for an unknown name or one of the
    other kind.
    """
    guesses = approximated if approximated is not None else set()

    def resolve(text: str) -> tuple[int, int]:
        among, name = _of_object(files, text)
        known = [_KnownSymbols(file.image, file.table, file.lines) for file in among if file.image]
        if lines := LINES.fullmatch(name):
            return _of_lines(known, lines, kind, guesses)
        return _of_symbol(known, name, kind, guesses)

    return resolve


def _of_object(files: Sequence[ObjectFile], text: str) -> tuple[Sequence[ObjectFile], str]:
    """Return the files that a name may be in, and the name without its object prefix."""
    found = OF_OBJECT.fullmatch(text)
    if found is None:
        return files, text
    among = [file for file in files if file.image and is_called(file.image.path, found["object"])]
    if not among:
        if LINES.fullmatch(text):
            return files, text
        names = [file.image.path.rpartition("/")[2] for file in files if file.image]
        raise UnknownObjectError(found["object"], dict.fromkeys(names))
    if len({file.image and file.image.path for file in among}) > 1:
        paths = " and ".join(sorted({file.image.path for file in among if file.image}))
        raise BadValueError(f"{found['object']} is {paths}; give more of the name")
    return among, found["name"]


def source_file(files: Sequence[ObjectFile], text: str) -> SourceFile | None:
    """Return the source file of that name, ``FILE`` or ``OBJECT:FILE``, that code of one of ``files`` comes from; None:
    there is none. BadValueError: there are several."""
    among, name = _of_object(files, text)
    found: dict[str, list[str]] = {}
    for file in among:
        for path in _paths(file, name.removeprefix("./")):
            found.setdefault(path, []).append(file.path)
    if len(found) > 1:
        raise BadValueError(f"{name} is {' and '.join(sorted(found))}; give more of the path")
    return next((SourceFile(path, tuple(objects)) for path, objects in found.items()), None)


def source_names(files: Sequence[ObjectFile]) -> list[str]:
    """Return the names, without directories, of the source files that code of these files comes from."""
    paths = {path for file in files for path in _paths(file, "")}
    return sorted({path.rpartition("/")[2] for path in paths})


def _paths(file: ObjectFile, name: str) -> list[str]:
    try:
        return file.lines.paths(name)
    except PfmonError:  # damaged DWARF is ignored
        return []


def numbers_of_object(objects: LoadedObjects, text: str) -> list[int] | None:
    """Return the numbers of the files selected by a name's object prefix; None: it has none."""
    among, name = _of_object(objects.everything(), text)
    if name == text:
        return None
    paths = {file.path for file in among}
    return [number for number in range(objects.count) if any(file.path in paths for file in objects.of(number))]


def is_called(path: str, name: str) -> bool:
    """Return whether a name refers to a file: the end of its path, with or without (parts of) the version."""
    wanted, parts = name.split("/"), path.split("/")[-1 - name.count("/") :]
    return parts[:-1] == wanted[:-1] and (parts[-1] == wanted[-1] or parts[-1].startswith(f"{wanted[-1]}."))


def _of_symbol(files: Sequence[_KnownSymbols], text: str, kind: str, approximated: set[str]) -> tuple[int, int]:
    head, bracket, tail = text.rpartition(")")  # the plus follows a C++ function such as `operator+(A const&)`
    name, plus, offset = tail.partition("+")
    name = f"{head}{bracket}{name}"
    known, symbol = _named(files, name.strip(), kind)
    start, end = symbol.address, known.end(symbol)
    if not symbol.size:
        approximated.add(symbol.name)
    if plus:
        start += _offset(offset, text)
    if start >= end:
        raise BadValueError(f"{text}: {name} has {end - symbol.address} bytes only")
    return start, end


def _of_lines(
    files: Sequence[_KnownSymbols], asked: re.Match[str], kind: str, approximated: set[str]
) -> tuple[int, int]:
    """Return the range from the first to the last bundle of source lines."""
    if kind != "code":
        raise BadValueError(f"{asked[0]} is code; {OPTION[kind]}")
    first = int(asked["first"])
    last = int(asked["last"] or first)
    if last < first:
        raise BadValueError(f"{asked[0]}: line {last} is before line {first}")
    tables = [known.lines for known in files]
    own = next((table for table in tables if table.has_file(asked["file"])), None)
    own = own or next((table for table in tables if table.codes()), tables[0])
    pieces = own.pieces(asked["file"], first, last)
    if len(pieces) > 1:
        approximated.add(asked[0])
    return pieces[0][0], pieces[-1][1]


def _named(files: Sequence[_KnownSymbols], name: str, kind: str) -> tuple[_KnownSymbols, Symbol]:
    """Return a name's symbol and file. PfmonError names the most similar ones."""
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
    raise UnknownNameError(f"{kind} symbol", name, dict.fromkeys(map(demangled, right)))


def _offset(text: str, whole: str) -> int:
    """Return the offset after the plus."""
    try:
        offset = int(text, 0)
    except ValueError:
        offset = -1
    if offset < 0:
        raise BadValueError(f"{whole}: the offset of a symbol is a number of bytes, such as main+0x40")
    return offset
