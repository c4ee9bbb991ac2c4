"""Attribution of a run's counts to functions, blocks and instructions; exact, as every count is."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from pfmon.counting._counting import PYTHON_FUNCTIONS
from pfmon.errors import PfmonError
from pfmon.program.demangle import demangled
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.image import Image
from pfmon.program.inlined_code import InlinedCode
from pfmon.program.loaded_objects import LoadedObjects, ObjectFile, shown_name
from pfmon.program.source_texts import SourceFile
from pfmon.program.symbols import Symbol
from pfmon.session.run.event_sets import EventSets
from pfmon.session.run.programmed_pmu import RunData, Value
from pfmon.stream._stream import InstructionSet

Key = TypeVar("Key")


NO_SYMBOL = "[no symbol]"
NO_LINE = "[no source line]"
SYSTEM = ("/lib", "/usr/lib")
"""Folders of the system's libraries. Their lines are in debug files that take long to read, and say less than
functions."""
NO_CODE = "[before the first instruction]"
SLOT = {InstructionSet.IA64: 15}
"""Address bits that hold an instruction's slot, by instruction set; none in others."""


class ProfileRow(NamedTuple):
    """One part of the program: its name, its address, a value for each requested name, and the path of its shared
    object ("": the program itself); ``file``: the source file of a static function, as the symbol table has it."""

    name: str
    address: int
    values: tuple[Value, ...]
    object: str = ""
    file: str = ""

    @property
    def shown(self) -> str:
        """The name in tables: ``sin [libm.so.6]``."""
        return shown_name(self.name, self.object)

    def to_dict(self) -> dict[str, Any]:
        """Return name, address, object (null: the program itself), file (of a static function; else null), counts."""
        return {
            "name": self.name,
            "address": self.address,
            "object": self.object or None,
            "file": self.file or None,
            "counts": list(self.values),
        }


class Profile:
    """The counts of a run, split. A mark that no retired instruction caused (a system call's change of level, a
    register spilled when a signal is delivered) is attributed to the end of the block before it."""

    def __init__(self, counting: EventSets, objects: LoadedObjects, seen: RunData, demangle: bool = True) -> None:
        self.names = [count.name for count in counting.counts()]
        self._sets = counting.sets
        self._compute = counting.values
        self._sinks = [one.sink(seen, by_place=True) for one in counting.sets]
        self._names = FunctionNames(objects, demangle, seen.table.instruction_set)
        self._slot = SLOT.get(seen.table.instruction_set, 0)
        self._instructions: dict[int, list[int]] | None = None
        self.files: Container[int] | None = None
        """The numbers of the files whose instructions `values_at` selects; None: of any."""

    def by_function(self) -> list[ProfileRow]:
        """Return a row for each function with counts, the largest first."""
        functions: dict[Function, list[int]] = {}
        for file in sorted({number for sink in self._sinks for number in sink.files()}):
            boundaries = self._names.boundaries(file)
            for piece, counts in self._joined([sink.by_piece(boundaries, file) for sink in self._sinks]).items():
                add_to_row(functions, self._names.row(boundaries[piece - 1] if piece else 0, file), counts)
        elsewhere = self._elsewhere()
        if any(elsewhere):
            functions[Function(NO_CODE, 0)] = elsewhere
        return self._rows((one.name, one.address, counts, one.object, one.file) for one, counts in functions.items())

    def by_block(self) -> list[ProfileRow]:
        """Return a row for each basic block, identified by its start address, the largest first."""
        blocks = self._joined([sink.by_block() for sink in self._sinks])
        elsewhere = self._elsewhere()
        if any(elsewhere):
            blocks[0, 0] = elsewhere
        places = {(file, ip): self._names.named_place(ip, file) for file, ip in blocks}
        rows = ((places[block], block[1], counts) for block, counts in blocks.items())
        return self._rows((place.name, ip, counts, place.object, "") for place, ip, counts in rows)

    def by_line(self) -> list[ProfileRow]:
        """Return a row for each source line with counts, ``file:line`` and its lowest address that was counted, the
        largest first; for each function of the system's libraries; and one for all other code without lines."""
        lines: dict[tuple[str, str], list[int]] = {}
        first: dict[tuple[str, str], int] = {}
        for file in sorted({number for sink in self._sinks for number in sink.files()}):
            for address, counts in self._joined([sink.by_address(files={file}) for sink in self._sinks]).items():
                key = self._line(address, file)
                first[key] = min(first.get(key, address), address)
                add_to_row(lines, key, counts)
        elsewhere = self._elsewhere()
        if any(elsewhere):
            lines[NO_CODE, ""] = elsewhere
        rows = ((name, first.get((name, path), 0), counts, path, "") for (name, path), counts in lines.items())
        return self._rows(rows)

    def _line(self, address: int, file: int) -> tuple[str, str]:
        """Return the name of an instruction's row by line, and its shared object; ``file``: the number of its file."""
        function = self._names.function(address, of_code=True, file=file)
        if function.object.startswith(SYSTEM):
            return function.name, function.object
        source = self._names.source(address)
        return f"{source.file}:{source.line}" if source else NO_LINE, function.object

    def of_source(self, wanted: SourceFile) -> dict[int, tuple[Value, ...]]:
        """Return the counts of a source file by line, wherever its code is: inlined, or in several objects."""
        lines: dict[int, list[int]] = {}
        for file in sorted({number for sink in self._sinks for number in sink.files()}):
            for address, counts in self._joined([sink.by_address(files={file}) for sink in self._sinks]).items():
                if line := self._names.line_of(address, wanted.path):
                    add_to_row(lines, line, counts)
        return {line: tuple(self._compute(counts)) for line, counts in sorted(lines.items())}

    def folders(self, wanted: SourceFile) -> list[str]:
        """Return the directories of the objects with code of a source file."""
        return self._names.folders(wanted.objects)

    def values_at(self, address: int) -> tuple[Value, ...] | None:
        """Return the counts of the instruction at an address (IA-64: bundle address | slot); None: nothing counted."""
        if self._instructions is None:
            self._instructions = self._joined([sink.by_address(files=self.files) for sink in self._sinks])
        counts = self._instructions.get(address)
        return None if counts is None else tuple(self._compute(counts))

    def origins(self, addresses: Sequence[int]) -> list[Origin]:
        """Return the origins of the instructions at some addresses, in order."""
        return self._names.origins(addresses)

    def folder(self, address: int) -> str:
        """Return the directory of an address's file."""
        image = self._names.image(address)
        return image.path.rpartition("/")[0] if image else ""

    def address_and_slot(self, address: int) -> tuple[int, int]:
        """Split an instruction's address into that of its bundle and its slot (0 without bundles)."""
        return address & ~self._slot, address & self._slot

    def _elsewhere(self) -> list[int]:
        """Return the counts attributed to no instruction, in the order of all monitors."""
        sinks = zip(self._sets, self._sinks, strict=True)
        return [n for one, sink in sinks for n in one.ordered(sink.outside_blocks())]

    def _joined(self, parts: list[dict[Key, list[int]]]) -> dict[Key, list[int]]:
        """Join the counts of all sets, in the order of all monitors."""
        widths = [len(one.programming.monitors) for one in self._sets]
        found: dict[Key, list[int]] = {}
        first = 0
        for one, part, width in zip(self._sets, parts, widths, strict=True):
            for key, counts in part.items():
                found.setdefault(key, [0] * sum(widths))[first : first + width] = one.ordered(counts)
            first += width
        return found

    def _rows(self, parts: Iterable[tuple[str, int, list[int], str, str]]) -> list[ProfileRow]:
        ordered = sorted(parts, key=lambda part: ([-count for count in part[2]], part[1], part[3]))
        return [
            ProfileRow(name, address, tuple(self._compute(counts)), path, file)
            for name, address, counts, path, file in ordered
        ]


def add_to_row(rows: dict[Key, list[int]], key: Key, counts: Sequence[int]) -> None:
    """Add counts to those of a row, which may be the first ones."""
    known = rows.get(key)
    rows[key] = [a + b for a, b in zip(known, counts, strict=True)] if known else list(counts)


class Source(NamedTuple):
    """A line of a source file, with the path that the compiler was given."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file.rpartition('/')[2]}:{self.line}"


class Origin(NamedTuple):
    """An instruction's origin: its source line, None without DWARF, and the functions inlined there, the innermost
    first."""

    source: Source | None
    inlined: tuple[str, ...]


class CodePlace(NamedTuple):
    """An instruction's place: its function and offset, and its shared object."""

    name: str
    object: str

    @property
    def shown(self) -> str:
        """Both parts as text."""
        return shown_name(self.name, self.object)


class Function(NamedTuple):
    """A function: its name, its start address (0: it is no function), and the path of its shared object; "" for the
    program itself. ``file``: the source file of a static one, as the symbol table has it."""

    name: str
    address: int
    object: str = ""
    file: str = ""

    def __str__(self) -> str:
        return shown_name(self.name, self.object)


class FunctionNames:
    """Names of code addresses, looked up once for each bundle; C++ names are demangled if ``demangle``.

    If several files were mapped at one address, the file number of the code (BlockHead.file) selects one; if that is
    unknown, the file mapped last.
    """

    def __init__(
        self,
        objects: LoadedObjects,
        demangle: bool = True,
        instruction_set: InstructionSet = InstructionSet.IA64,
        python: Callable[[], Sequence[GuestFunction]] = tuple,
    ) -> None:
        """``python``: returns the Python functions of the program, whose addresses are PYTHON_FUNCTIONS and their
        place among them, from 1 on."""
        self._python = python
        self._slot = SLOT.get(instruction_set, 0)
        self._objects = objects
        self._demangle = demangled if demangle else str
        self._known: dict[tuple[int, int | None], Function] = {}
        self._sources: dict[int, Source | None] = {}
        self._first: dict[tuple[str, str, int], Function] = {}

    def boundaries(self, file: int = 0) -> list[int]:
        """Return the addresses at which the result of `function` may change in the code of a file, in order."""
        found: set[int] = set()
        for one in self._objects.of(file):
            for start, end in one.segments():
                found.update((start, end))
            for symbol in one.table.symbols():
                found.update((symbol.address, symbol.address + symbol.size))
        return sorted(address for address in found if 0 <= address < 1 << 64)

    def function(self, address: int, of_code: bool = False, file: int | None = None) -> Function:
        """Return an instruction's function; ``of_code``: address 0 is code, too."""
        if address > PYTHON_FUNCTIONS:
            return Function(str(self._python()[address - PYTHON_FUNCTIONS - 1]), address)
        key = address & ~self._slot, file
        if key not in self._known:
            self._known[key] = self._function(address, of_code, file)
        return self._known[key]

    def row(self, address: int, file: int) -> Function:
        """Return the function of a file's code for tables: at its first address, if its shared object was mapped at
        several."""
        function = self.function(address, of_code=True, file=file)
        if not function.object or not function.address:
            return function
        image = self._objects.of(file)[-1].image
        linked = function.address - (image.bias if image else 0)
        return self._first.setdefault((function.name, function.object, linked), function)

    def _function(self, address: int, of_code: bool, file: int | None) -> Function:
        if found := self._nearest(address & ~self._slot, file):
            symbol, one = found
            return Function(self._demangle(symbol.name), symbol.address, one.path, symbol.file)
        if not (address or of_code):
            return Function(NO_CODE, 0)
        return Function(NO_SYMBOL, 0, self._path(address, file))

    def _path(self, address: int, file: int | None) -> str:
        """Return the shared object of code without a symbol."""
        files = self._objects.around(address) if file is None else self._objects.of(file)
        return next((one.path for one in files if one.image is None or one.image.segment(address)), "")

    def _nearest(self, address: int, file: int | None) -> tuple[Symbol, ObjectFile] | None:
        for one in self._objects.around(address) if file is None else self._objects.of(file):
            if location := one.table.nearest(address):
                return location.symbol, one
        return None

    def symbol(self, address: int) -> Symbol | None:
        """Return the symbol of an instruction's bundle, with its mangled name."""
        found = self._nearest(address & ~self._slot, None)
        return found[0] if found else None

    def place(self, address: int, file: int | None = None) -> str:
        """Return ``main+0x20``, followed by ``.1`` or ``.2`` for a slot other than 0."""
        return self.named_place(address, file).shown

    def named_place(self, address: int, file: int | None = None) -> CodePlace:
        """Return the same with the shared object."""
        function = self.function(address, file=file)
        slot, start = address & self._slot, function.address
        offset = f"+{address - slot - start:#x}" if start and address - slot != start else ""
        return CodePlace(function.name + offset + (f".{slot}" if slot else ""), function.object)

    def source(self, address: int) -> Source | None:
        """Return an instruction's source line; None without DWARF or with damaged line tables."""
        if address not in self._sources:
            self._sources[address] = self._read_source(address)
        return self._sources[address]

    def line_of(self, address: int, file: str) -> int | None:
        """Return the line of a source file that an instruction comes from; None: it comes from another file."""
        found = self._read_source(address, file)
        return found.line if found and found.file == file else None

    def _read_source(self, address: int, of: str = "") -> Source | None:
        """``of``: only objects that name this source file are asked."""
        if address > PYTHON_FUNCTIONS:
            found = self._python()[address - PYTHON_FUNCTIONS - 1]
            return Source(found.file, found.line)
        for one in self._objects.around(address):
            try:
                code = one.lines.at(address) if not of or one.lines.may_name(of) else None
            except PfmonError:
                continue
            if code is not None:
                return Source(code.file, code.line) if code.line else None  # 0: no line
        return None

    def origins(self, addresses: Sequence[int]) -> list[Origin]:
        """Return the origins of the instructions at some addresses, in order."""
        if not addresses:
            return []
        found: list[InlinedCode] = []
        for one in self._objects.around(addresses[0]):
            with suppress(PfmonError):  # damaged DWARF is ignored
                found = found or one.inlined_within(addresses[0], addresses[-1] + 1)
        return [
            Origin(
                self.source(address), tuple(self._demangle(one.name) for one in found if one.start <= address < one.end)
            )
            for address in addresses
        ]

    def folders(self, paths: Sequence[str]) -> list[str]:
        """Return the directories of some object files."""
        images = (one.image for one in self._objects.everything() if one.path in paths)
        return [image.path.rpartition("/")[0] for image in images if image]

    def file(self, address: int) -> ObjectFile | None:
        """Return the object file with an address."""
        files = self._objects.around(address)
        return next((one for one in files if one.image and one.image.segment(address)), None)

    def image(self, address: int) -> Image | None:
        """Return the file of an address."""
        images = (one.image for one in self._objects.around(address))
        return next((image for image in images if image and image.segment(address)), None)
