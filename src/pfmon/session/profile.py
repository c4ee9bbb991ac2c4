"""Where in the program the counts of a run come from: functions, blocks, instructions; exact, as every count is."""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.light_typing import NamedTuple
from pfmon.program.demangle import demangled
from pfmon.program.lines import Lines
from pfmon.program.symbols import symbols_of
from pfmon.stream.table import InstructionSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from pfmon.program.image import Image, Program
    from pfmon.program.symbols import Symbol
    from pfmon.session.counting import Seen, Value
    from pfmon.session.event_sets import EventSets

NO_SYMBOL = "[no symbol]"
NO_CODE = "[before the first instruction]"
SLOT = {InstructionSet.IA64: 15}
"""Bits of an instruction's address that say its slot, by instruction set; none in others."""


class Row(NamedTuple):
    """One part of the program: its name, its address, and a value for each name that was asked for."""

    name: str
    address: int
    values: tuple[Value, ...]

    def to_dict(self) -> dict[str, Any]:
        """name, address, counts."""
        return {"name": self.name, "address": self.address, "counts": list(self.values)}


class Profile:
    """The counts of a run, split. A mark that no retired instruction caused (a system call's change of level, a
    register spilled when a signal is delivered) is where the block before it ended."""

    def __init__(self, counting: EventSets, program: Program | None, seen: Seen, demangle: bool = True) -> None:
        self.names = [count.name for count in counting.counts()]
        self._sets = counting.sets
        self._compute = counting.values
        self._sinks = [one.sink(seen, by_place=True) for one in counting.sets]
        self._names = FunctionNames(program, demangle, seen.table.instruction_set)
        self._slot = SLOT.get(seen.table.instruction_set, 0)
        self._instructions: dict[int, list[int]] | None = None

    def by_function(self) -> list[Row]:
        """A row for each function that counted something, the largest first."""
        boundaries = self._names.boundaries()
        functions: dict[tuple[str, int], list[int]] = {}
        for piece, counts in self._joined([sink.by_piece(boundaries) for sink in self._sinks]).items():
            place = self._names.function(boundaries[piece - 1] if piece else 0, of_code=True)
            known = functions.get(place)
            functions[place] = [a + b for a, b in zip(known, counts, strict=True)] if known else counts
        elsewhere = self._elsewhere()
        if any(elsewhere):
            functions[NO_CODE, 0] = elsewhere
        return self._rows((name, address, counts) for (name, address), counts in functions.items())

    def by_block(self) -> list[Row]:
        """A row for each basic block, by where it begins, the largest first."""
        blocks = self._joined([sink.by_block() for sink in self._sinks])
        elsewhere = self._elsewhere()
        if any(elsewhere):
            blocks[0] = elsewhere
        return self._rows((self._names.place(ip), ip, counts) for ip, counts in blocks.items())

    def values_at(self, address: int) -> tuple[Value, ...] | None:
        """What the instruction at an address (IA-64: bundle address | slot) came to; None if it counted nothing."""
        if self._instructions is None:
            self._instructions = self._joined([sink.by_address() for sink in self._sinks])
        counts = self._instructions.get(address)
        return None if counts is None else tuple(self._compute(counts))

    def address_and_slot(self, address: int) -> tuple[int, int]:
        """An instruction's address in two: that of its bundle, and its slot (0 where there are no bundles)."""
        return address & ~self._slot, address & self._slot

    def _elsewhere(self) -> list[int]:
        """What happened at no instruction, in the order of all monitors."""
        return [n for one, sink in zip(self._sets, self._sinks, strict=True) for n in one.ordered(sink.elsewhere())]

    def _joined(self, parts: list[dict[int, list[int]]]) -> dict[int, list[int]]:
        """The counts of all sets side by side, in the order of all monitors."""
        widths = [len(one.programming.monitors) for one in self._sets]
        found: dict[int, list[int]] = {}
        first = 0
        for one, part, width in zip(self._sets, parts, widths, strict=True):
            for key, counts in part.items():
                found.setdefault(key, [0] * sum(widths))[first : first + width] = one.ordered(counts)
            first += width
        return found

    def _rows(self, parts: Iterable[tuple[str, int, list[int]]]) -> list[Row]:
        ordered = sorted(parts, key=lambda part: ([-count for count in part[2]], part[1]))
        return [Row(name, address, tuple(self._compute(counts))) for name, address, counts in ordered]


class Source(NamedTuple):
    """A line of a source file, whose path is as the compiler was given it."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file.rpartition('/')[2]}:{self.line}"


class FunctionNames:
    """Names of code addresses, looked up once for each bundle; C++ names demangled, unless ``demangle`` says no."""

    def __init__(
        self,
        program: Program | None,
        demangle: bool = True,
        instruction_set: InstructionSet = InstructionSet.IA64,
    ) -> None:
        self._slot = SLOT.get(instruction_set, 0)
        self._images = program.images if program else []
        self._tables = [symbols_of(image) for image in self._images]
        self._lines = [Lines(image.named_by, image.bias, image.path) for image in self._images]
        self._demangle = demangled if demangle else str
        self._known: dict[int, tuple[str, int]] = {}
        self._sources: dict[int, Source | None] = {}

    def boundaries(self) -> list[int]:
        """The addresses at which the answer of `function` may change, in order."""
        found: set[int] = set()
        for table in self._tables:
            found.add(table.end)
            for symbol in table.symbols():
                found.update((symbol.address, symbol.address + symbol.size))
        return sorted(address for address in found if 0 <= address < 1 << 64)

    def function(self, address: int, of_code: bool = False) -> tuple[str, int]:
        """Name and address of the function that an instruction is in; ``of_code``: there is code at 0, too."""
        bundle = address & ~self._slot
        if bundle not in self._known:
            symbol = self.symbol(bundle)
            nothing = (NO_SYMBOL if address or of_code else NO_CODE, 0)
            self._known[bundle] = (self._demangle(symbol.name), symbol.address) if symbol else nothing
        return self._known[bundle]

    def symbol(self, address: int) -> Symbol | None:
        """What the linker has for an instruction's bundle: the name mangled, as it is."""
        found = (table.nearest(address & ~self._slot) for table in self._tables)
        return next((location.symbol for location in found if location is not None), None)

    def place(self, address: int) -> str:
        """``main+0x20``, with ``.1`` or ``.2`` behind it for a slot other than 0."""
        name, start = self.function(address)
        slot = address & self._slot
        offset = f"+{address - slot - start:#x}" if start and address - slot != start else ""
        return f"{name}{offset}" + (f".{slot}" if slot else "")

    def source(self, address: int) -> Source | None:
        """The line that an instruction comes from, where there is DWARF. Damaged line tables are as good as none."""
        if address not in self._sources:
            self._sources[address] = self._read_source(address)
        return self._sources[address]

    def _read_source(self, address: int) -> Source | None:
        for lines in self._lines:
            try:
                code = lines.at(address)
            except PfmonError:
                continue
            if code is not None:
                return Source(code.file, code.line) if code.line else None  # 0: of no line
        return None

    def image(self, address: int) -> Image | None:
        """The file that an address is in."""
        return next((image for image in self._images if image.segment(address)), None)
