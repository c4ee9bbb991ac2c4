"""Where in the program the counts of a run come from: functions, blocks, instructions; exact, as every count is."""

from __future__ import annotations

from pfmon.light_typing import NamedTuple
from pfmon.program.symbols import SymbolTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from pfmon.program.image import Program
    from pfmon.session.counting import Seen, Value
    from pfmon.session.event_sets import EventSets

NO_SYMBOL = "[no symbol]"
NO_CODE = "[before the first instruction]"


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

    def __init__(self, counting: EventSets, program: Program | None, seen: Seen) -> None:
        self.names = [count.name for count in counting.counts()]
        self._sets = counting.sets
        self._compute = counting.values
        self._sinks = [one.sink(seen, by_place=True) for one in counting.sets]
        self._names = FunctionNames(program)
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
        """What the instruction at a bundle address | slot came to; None if it counted nothing."""
        if self._instructions is None:
            self._instructions = self._joined([sink.by_address() for sink in self._sinks])
        counts = self._instructions.get(address)
        return None if counts is None else tuple(self._compute(counts))

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


class FunctionNames:
    """Names of code addresses, looked up once for each bundle."""

    def __init__(self, program: Program | None) -> None:
        images = [image for image in (program.image, program.interpreter) if image is not None] if program else []
        self._tables = [SymbolTable(image.data, image.bias) for image in images]
        self._known: dict[int, tuple[str, int]] = {}

    def boundaries(self) -> list[int]:
        """The addresses at which the answer of `function` may change, in order."""
        found: set[int] = set()
        for table in self._tables:
            for symbol in table.symbols():
                found.update((symbol.address, symbol.address + symbol.size))
        return sorted(address for address in found if 0 <= address < 1 << 64)

    def function(self, address: int, of_code: bool = False) -> tuple[str, int]:
        """Name and address of the function that an instruction is in; ``of_code``: there is code at 0, too."""
        bundle = address & ~15
        if bundle not in self._known:
            found = (table.nearest(bundle) for table in self._tables)
            location = next((location for location in found if location is not None), None)
            nothing = (NO_SYMBOL if address or of_code else NO_CODE, 0)
            self._known[bundle] = (location.symbol.name, location.symbol.address) if location else nothing
        return self._known[bundle]

    def place(self, address: int) -> str:
        """``main+0x20``, with ``.1`` or ``.2`` behind it for a slot other than 0."""
        name, start = self.function(address)
        offset = f"+{(address & ~15) - start:#x}" if start and address & ~15 != start else ""
        return f"{name}{offset}" + (f".{address & 3}" if address & 3 else "")
