"""Where in the program the counts of a run come from: functions, blocks, instructions; exact, as every count is."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pfmon.engine.ia64.encodings.bundle import slots
from pfmon.engine.ia64.encodings.disassemble import disassemble
from pfmon.engine.ia64.memory.address_space import AddressSpace, GuestMemoryFault
from pfmon.program.image import Program
from pfmon.program.symbols import SymbolTable
from pfmon.session.attribution import Blocks
from pfmon.session.counting import Value
from pfmon.session.event_sets import EventSets
from pfmon.stream.tally import Tally

NO_SYMBOL = "[no symbol]"
NO_CODE = "[before the first instruction]"


class Row(NamedTuple):
    """One part of the program: its name, its address, and a value for each name that was asked for."""

    name: str
    address: int
    values: tuple[Value, ...]


class Profile:
    """The counts of a run, split. A mark that no retired instruction caused (a system call's change of level, a
    register spilled when a signal is delivered) is where the block before it ended."""

    def __init__(self, counting: EventSets, program: Program, blocks: Blocks, tally: Tally) -> None:
        self.names = [count.name for count in counting.counts()]
        self._compute = counting.values
        self._width = counting.monitors
        self._names = FunctionNames(program)
        self._instructions: dict[int, list[int]] = {}
        self._blocks: dict[int, list[int]] = {}
        for part in counting.contributions(blocks, tally):
            record = part.totals.record
            last = record.instructions[-1] if record else None
            cause = part.totals.instruction(part.number) or last
            self._add(self._instructions, cause.address if cause else 0, part.event, part.increment)
            self._add(self._blocks, record.ip if record else 0, part.event, part.increment)

    def _add(self, parts: dict[int, list[int]], address: int, event: int, increment: int) -> None:
        parts.setdefault(address, [0] * self._width)[event] += increment

    def by_function(self) -> list[Row]:
        """A row for each function that counted something, the largest first."""
        functions: dict[tuple[str, int], list[int]] = {}
        for address, counts in self._instructions.items():
            sums = functions.setdefault(self._names.function(address), [0] * self._width)
            for event, count in enumerate(counts):
                sums[event] += count
        return self._rows((name, address, counts) for (name, address), counts in functions.items())

    def by_block(self) -> list[Row]:
        """A row for each basic block, by where it begins, the largest first."""
        return self._rows((self._names.place(ip), ip, counts) for ip, counts in self._blocks.items())

    def values_at(self, address: int) -> tuple[Value, ...] | None:
        """What the instruction at a bundle address | slot came to; None if it counted nothing."""
        counts = self._instructions.get(address)
        return None if counts is None else tuple(self._compute(counts))

    def _rows(self, parts: Iterable[tuple[str, int, list[int]]]) -> list[Row]:
        ordered = sorted(parts, key=lambda part: ([-count for count in part[2]], part[1]))
        return [Row(name, address, tuple(self._compute(counts))) for name, address, counts in ordered]


class FunctionNames:
    """Names of code addresses, looked up once for each bundle."""

    def __init__(self, program: Program) -> None:
        images = [image for image in (program.image, program.interpreter) if image is not None]
        self._tables = [SymbolTable(image.data, image.bias) for image in images]
        self._known: dict[int, tuple[str, int]] = {}

    def function(self, address: int) -> tuple[str, int]:
        """Name and address of the function that an instruction is in."""
        bundle = address & ~15
        if bundle not in self._known:
            found = (table.nearest(bundle) for table in self._tables)
            location = next((location for location in found if location is not None), None)
            nothing = (NO_SYMBOL if address else NO_CODE, 0)
            self._known[bundle] = (location.symbol.name, location.symbol.address) if location else nothing
        return self._known[bundle]

    def place(self, address: int) -> str:
        """``main+0x20``, with ``.1`` or ``.2`` behind it for a slot other than 0."""
        name, start = self.function(address)
        offset = f"+{(address & ~15) - start:#x}" if start and address & ~15 != start else ""
        return f"{name}{offset}" + (f".{address & 3}" if address & 3 else "")


def listing(memory: AddressSpace, limits: tuple[int, int]) -> list[tuple[int, str]]:
    """Address | slot and text of every instruction in a range of code; no text where there is no code."""
    lines = []
    for bundle in range(limits[0], limits[1], 16):
        instructions = slots(int.from_bytes(_read(memory.read, bundle), "little"))
        for one in instructions or ():
            text = disassemble(one.unit, one.encoding, one.extension, bundle) or f"reserved encoding {one.encoding:#x}"
            lines.append((bundle | one.number, text + (" ;;" if one.stop else "")))
    return lines


def _read(read: Callable[[int, int], bytes], bundle: int) -> bytes:
    """The bytes of a bundle; those of a reserved template if there are none."""
    try:
        return read(bundle, 16)
    except GuestMemoryFault:
        return b"\x06" + bytes(15)
