"""The object files of a run's code, with their addresses: the program, its interpreter, and the files that it has
mapped.

Their symbols and lines are read on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from pfmon.errors import PfmonError
from pfmon.program import elf
from pfmon.program.compilation_units import CompilationUnits
from pfmon.program.debug_files import DebugFiles
from pfmon.program.elf import Elf, Segment
from pfmon.program.image import NO_DIRECTORIES, DebugDirectories, Image, Program
from pfmon.program.inlined_code import InlinedCode, inlined_within
from pfmon.program.line_tables import BUNDLE, IN_BUNDLES, LineTables
from pfmon.program.mapped_files import MappedFile, contents
from pfmon.program.symbols import SymbolTable

ALIGNED = 1 << 16
"""The largest page size: a mapping begins at most this many bytes before its segment."""


class ObjectFile:
    """One file in memory. ``path`` is "" for the program itself, whose names have no suffix; ``image`` is None for a
    file that is no ELF file, or no longer exists."""

    def __init__(self, path: str, image: Image | None, debug: DebugDirectories = NO_DIRECTORIES) -> None:
        self.path = path
        self.image = image
        self._debug = debug

    @cached_property
    def named(self) -> Image | None:
        """The image with the file that has its symbols and lines."""
        if self.image is None or self.image.symbol_file:
            return self.image
        found = DebugFiles(*self._debug).find(self.image.data, self.image.path)
        return self.image._replace(symbol_path=found[0], symbol_file=found[1]) if found else self.image

    @cached_property
    def table(self) -> SymbolTable:
        """Its symbol table."""
        image = self.named
        return SymbolTable(image.named_by, image.bias, image.end, image.data) if image else SymbolTable(b"")

    @cached_property
    def units(self) -> CompilationUnits:
        """Its DWARF."""
        return CompilationUnits(self.named.named_by if self.named else b"")

    @cached_property
    def lines(self) -> LineTables:
        """Its line tables."""
        image = self.named
        if image is None:
            return LineTables(b"")
        bundle = BUNDLE if image.elf.machine in IN_BUNDLES else 1
        return LineTables(image.named_by, image.bias, image.lines_path, bundle, self.units)

    def inlined_within(self, first: int, beyond: int) -> list[InlinedCode]:
        """Return the functions inlined in a range of its code. PfmonError: its DWARF is damaged."""
        image = self.named
        return inlined_within(self.units, image.bias, image.lines_path, first, beyond) if image else []

    def segments(self) -> list[tuple[int, int]]:
        """Start and end of its segments."""
        image = self.image
        if image is None:
            return []
        return [(s.address + image.bias, s.address + image.bias + s.memory_size) for s in image.elf.segments]


class LoadedObjects:
    """All object files of a run. A block's file number identifies its file: 0 is the program or its interpreter,
    numbers from 1 on are those of ``mapped``, which returns the files mapped so far."""

    def __init__(
        self,
        program: Program | None,
        mapped: Callable[[], Sequence[MappedFile]] = tuple,
        debug: DebugDirectories = NO_DIRECTORIES,
        generated: ObjectFile | None = None,
    ) -> None:
        """``debug``: directories of separate debug files; ``generated``: names of code that is from no file."""
        self._debug = debug
        self._generated = [generated] if generated else []
        self._mapped = mapped
        self._files: dict[MappedFile, ObjectFile] = {}
        self.own: list[ObjectFile] = []
        self.place(program)

    def place(self, program: Program | None) -> None:
        """Set the program, which may be at other addresses than before."""
        images = program.images if program else []
        self.own = [ObjectFile(one.path if number else "", one, self._debug) for number, one in enumerate(images)]

    @property
    def count(self) -> int:
        """The number of file numbers."""
        return 1 + len(self._mapped())

    def of(self, number: int) -> list[ObjectFile]:
        """Return the files of code with a file number."""
        return [self._file(self._mapped()[number - 1])] if number else [*self.own, *self._generated]

    def around(self, address: int) -> Iterator[ObjectFile]:
        """Yield the files that may contain an address; of several mapped at one address, the last one."""
        for one in reversed(self._mapped()):
            if one.start <= address < one.end:
                yield self._file(one)
        yield from self.own
        yield from self._generated

    def everything(self) -> list[ObjectFile]:
        """Return the program, the mapped files, each once per address, and the interpreter: the dynamic linker's search
        order."""
        found = {(file.path, file.image and file.image.bias): file for file in map(self._file, self._mapped())}
        return [*self.own[:1], *found.values(), *self.own[1:]]

    def bundle(self, address: int) -> bytes:
        """Return the 16 bytes at an address from the files; b"" if no file has it."""
        for file in self.around(address):
            segment = file.image and file.image.segment(address)
            if file.image and segment:
                offset = segment.offset + address - segment.address - file.image.bias
                return file.image.data[offset : min(offset + 16, segment.offset + segment.file_size)]
        return b""

    def mapped_around(self, address: int) -> list[MappedFile]:
        """Return the mappings of the files with a segment that contains an address."""
        images = ((one, self._file(one).image) for one in self._mapped())
        return [one for one, image in images if image and image.segment(address)]

    def _file(self, mapped: MappedFile) -> ObjectFile:
        if mapped not in self._files:
            self._files[mapped] = ObjectFile(mapped.path, image_of(mapped), self._debug)
        return self._files[mapped]


def shown_name(name: str, path: str) -> str:
    """Return a name followed by its shared object, if it is in one: ``sin [libm.so.6]``."""
    return f"{name} [{path.rpartition('/')[2]}]" if path else name


def place_of(objects: LoadedObjects, address: int) -> str:
    """Return the symbol of an address, ``sin+0x10 [libm.so.6]``; "" for none."""
    for file in objects.around(address):
        if location := file.table.nearest(address):
            return shown_name(str(location), file.path)
    return ""


def image_of(mapped: MappedFile) -> Image | None:
    """A mapped file where it lies; None: it cannot be read, or is no ELF file. PfmonError: it has changed since its run
    was recorded, and the recording does not keep it."""
    data = mapped.content or contents(mapped.path)
    if data is None:
        return None
    if mapped.sha256 and not mapped.content:
        from pfmon.program.file_digest import digest  # the replay has imported it

        if digest(data) != mapped.sha256:
            raise PfmonError(f"{mapped.path}: has changed since the run was recorded")
    try:
        parsed = elf.parse(data, mapped.path, is_program=False)
    except PfmonError:
        return None
    segment = _segment_at(parsed, mapped.offset)
    if segment is None:
        return None
    return Image(mapped.path, data, parsed, mapped.start - mapped.offset + segment.offset - segment.address)


def _segment_at(parsed: Elf, offset: int) -> Segment | None:
    """Return the executable segment mapped from an offset on."""
    found = [
        segment
        for segment in parsed.segments
        if segment.flags & elf.PF_X and segment.offset & -ALIGNED <= offset < segment.offset + segment.file_size
    ]
    return min(found, key=lambda segment: abs(segment.offset - offset), default=None)
