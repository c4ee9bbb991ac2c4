"""Source lines of a program's code, from its DWARF line tables.

An IA-64 address in a line table is a bundle's address plus the slot number; ranges here are whole bundles.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pfmon.errors import BadValueError, PfmonError, UnknownNameError
from pfmon.program.compilation_units import CompilationUnits
from pfmon.program.elf_machine import EM_386, EM_IA_64

BUNDLE = 16
IN_BUNDLES = (EM_IA_64, EM_386)
"""Machines whose code Itaniums count, including IA-32; ranges of their code are whole bundles."""

NEAR = 3
"""Number of lines with code listed in the message about a line without code."""


class LineCode(NamedTuple):
    """Code [start, end) of a line of a file."""

    file: str
    line: int
    start: int
    end: int


class LineTables:
    """The line tables of one ELF file, at addresses with the load bias, read on first use."""

    def __init__(
        self, data: bytes, bias: int = 0, path: str = "", bundle: int = BUNDLE, units: CompilationUnits | None = None
    ) -> None:
        """``bundle``: the granularity of ranges in bytes, 1 without bundles; ``units``: those of the file."""
        self._units = units or CompilationUnits(data)
        self._bundle = bundle
        self._bias = bias
        self._path = path
        self._read: dict[int, list[LineCode]] = {}
        """By offset of the unit."""
        self._named: dict[str, bool] = {}
        self._ordered: list[LineCode] = []
        self._starts: list[int] | None = None

    def codes(self) -> list[LineCode]:
        """All line tables; none without DWARF. PfmonError: the DWARF is damaged."""
        with self._damage():
            return [code for unit in self._units.everything() for code in self._codes(unit)]

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # pyelftools raises any exception on damaged data
            raise PfmonError(f"{self._path}: its DWARF line tables are damaged ({error})") from None

    def _codes(self, unit: Any) -> list[LineCode]:
        """Return the lines of one compilation unit."""
        if unit.cu_offset not in self._read:
            self._read[unit.cu_offset] = list(_read(self._units.dwarf.line_program_for_CU(unit), self._bias))
            self._starts = None
        return self._read[unit.cu_offset]

    def at(self, address: int) -> LineCode | None:
        """Return the line of the instruction at a bundle's address | slot, None if unknown. Raises as `codes`."""
        if found := self._read_at(address):
            return found
        with self._damage():
            for unit in self._units.around(address - self._bias, address - self._bias + 1):
                self._codes(unit)
        return self._read_at(address)

    def starts_around(self, addresses: Sequence[int]) -> list[int]:
        """Return where lines begin in the units with code at some addresses. Raises as `codes`."""
        with self._damage():
            units = self._units.with_code_at([address - self._bias for address in addresses])
            return [code.start for unit in units for code in self._codes(unit)]

    def _read_at(self, address: int) -> LineCode | None:
        """Return the line of an instruction, if it is in a unit that has been read."""
        if self._starts is None:
            self._ordered = sorted(
                (code for codes in self._read.values() for code in codes), key=lambda code: code.start
            )
            self._starts = [code.start for code in self._ordered]
        place = bisect_right(self._starts, address) - 1
        return self._ordered[place] if place >= 0 and address < self._ordered[place].end else None

    def pieces(self, file: str, first: int, last: int) -> list[tuple[int, int]]:
        """Return the code of lines ``first`` to ``last`` of a file as disjoint ranges of bundles, by address.

        ``file``: the end of its path. Raises PfmonError: no line tables, no such file, several such files, no code.
        """
        codes = self._of_file(file) or self.codes()
        if not codes:
            raise PfmonError(
                f"{file}:{first}: {self._path} has no DWARF line tables; compile it with -g, or give a symbol"
            )
        name = _one_file(file, codes)
        own = [code for code in codes if code.file == name]
        found = [code for code in own if first <= code.line <= last]
        if not found:
            lines = sorted({code.line for code in own}, key=lambda line: (abs(line - first), line))[:NEAR]
            near = ", ".join(str(line) for line in sorted(lines))
            raise BadValueError(f"{file}:{first}: no code comes from there; lines with code near it: {near}")
        return _joined(found, self._bundle)

    def may_name(self, file: str) -> bool:
        """Return whether code may come from a file whose path ends with ``file``: its name is in the tables. Raises as
        `codes`."""
        name = file.rpartition("/")[2]
        if name not in self._named:
            with self._damage():
                self._named[name] = bool(self._units.dwarf) and _has_name(self._units.dwarf, name)
        return self._named[name]

    def has_file(self, file: str) -> bool:
        """Return whether code comes from a file whose path ends with ``file``."""
        return bool(self._of_file(file))

    def sources_of(self, addresses: Sequence[int], most: int) -> list[str]:
        """Return the paths of the source files of units with code at some addresses, which are in order; headers may
        have none. ``most``: the number of units. Raises as `codes`."""
        found: dict[str, None] = {}
        with self._damage():
            for unit in self._units.with_code_at([address - self._bias for address in addresses])[:most]:
                if program := self._units.dwarf.line_program_for_CU(unit):
                    found.update(dict.fromkeys(_file_names(program.header).values()))
        return list(found)

    def paths(self, file: str) -> list[str]:
        """Return the paths that end with ``file`` ("": all) of the source files that code comes from. Raises as
        `codes`."""
        return sorted({code.file for code in (self._of_file(file) if file else self.codes())})

    def _of_file(self, file: str) -> list[LineCode]:
        """Return the code of files whose paths end with ``file``; only units that name such a file are read."""
        found: list[LineCode] = []
        if not self.may_name(file):
            return found
        with self._damage():
            for unit in self._units.everything():
                program = self._units.dwarf.line_program_for_CU(unit)
                if program and any(_ends_like(path, file) for path in _file_names(program.header).values()):
                    found += [code for code in self._codes(unit) if _ends_like(code.file, file)]
        return found


def _has_name(dwarf: Any, name: str) -> bool:
    """Whether a section with paths has one that ends with this name: most objects have none, and reading their tables
    takes seconds for a C library."""
    end = os.fsencode(name) + b"\0"
    if dwarf.debug_line_sec and end in dwarf.debug_line_sec.stream.getvalue():  # numbers may be before it there
        return True
    strings = [part.stream.getvalue() for part in (dwarf.debug_line_str_sec, dwarf.debug_str_sec) if part]
    return any(b"/" + end in text or b"\0" + end in text or text.startswith(end) for text in strings)


def _ends_like(path: str, file: str) -> bool:
    wanted = file.split("/")
    return path.split("/")[-len(wanted) :] == wanted


def _one_file(file: str, codes: Iterable[LineCode]) -> str:
    """Return the only path that ends with ``file``."""
    known = sorted({code.file for code in codes})
    found = [path for path in known if _ends_like(path, file)]
    if not found:
        raise UnknownNameError("source file", file, [path.rsplit("/", 1)[-1] for path in known])
    if len(found) > 1:
        raise BadValueError(f"{file} is {' and '.join(found)}; give more of the path")
    return found[0]


def _joined(codes: list[LineCode], bundle: int) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    for code in sorted(codes, key=lambda code: code.start):
        start, end = code.start - code.start % bundle, code.end + -code.end % bundle
        if pieces and start <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(end, pieces[-1][1]))
        else:
            pieces.append((start, end))
    return pieces


def _read(program: Any, bias: int) -> Iterator[LineCode]:
    """Run a line number program and yield its lines; None: the unit has no program."""
    if program is None:
        return
    names = _file_names(program.header)
    before = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address < state.address:
            yield LineCode(names[before.file], before.line, before.address + bias, state.address + bias)
        before = None if state.end_sequence else state


def _file_names(header: Any) -> dict[int, str]:
    """Return paths by file number of a line table: numbers start at 1 before DWARF 5, at 0 since; directory 0 is the
    compiler's working directory."""
    modern = header["version"] >= 5
    folders = [_text(folder) for folder in header["include_directory"]]
    names = {}
    for number, entry in enumerate(header["file_entry"], start=0 if modern else 1):
        place = entry.dir_index if modern else entry.dir_index - 1
        folder = folders[place] if 0 <= place < len(folders) else ""
        name = _text(entry.name)
        names[number] = f"{folder}/{name}" if folder and not name.startswith("/") else name
    return names


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
