"""Lines of memory that threads share and store to, with the instructions that access them (as perf c2c has them)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from pfmon.counting._counting import SharedLines
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.profile.data_areas import DataNames
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.stream._stream import BlockTable, InstructionSet

if TYPE_CHECKING:
    from pfmon.machine._machine import IntervalCores


class LineAccess(NamedTuple):
    """Accesses of an instruction of a thread to a place in a line. ``thread``: its number in order of creation, 0 is
    the first; ``place``: the instruction's function, offset, shared object and source line; ``data``: the name of what
    is there; ``moved``: those that fetch the line from another thread, which owns it; ``unrelated``: those of them to
    bytes that the other thread had not stored to (false sharing); ``hitm``: those that got the line from another core,
    which had modified it, on the modelled machine; None: it has one core."""

    thread: int
    instruction: int
    place: str
    data: str
    offset: int
    size: int
    loads: int
    stores: int
    moved: int
    unrelated: int
    hitm: int | None = None


class SharedLine(NamedTuple):
    """A line: its address, and the accesses to it, those that moved it most first."""

    address: int
    accesses: Sequence[LineAccess]

    @property
    def data(self) -> Sequence[str]:
        """The names of the objects in it that are accessed."""
        return list(dict.fromkeys(one.data.partition("+")[0] for one in self.accesses))

    @property
    def loads(self) -> int:
        """Accesses that load."""
        return sum(one.loads for one in self.accesses)

    @property
    def stores(self) -> int:
        """Accesses that store."""
        return sum(one.stores for one in self.accesses)

    @property
    def moved(self) -> int:
        """Accesses that fetch the line from another thread."""
        return sum(one.moved for one in self.accesses)

    @property
    def unrelated(self) -> int:
        """Those of `moved` to bytes that the other thread had not stored to."""
        return sum(one.unrelated for one in self.accesses)

    @property
    def hitm(self) -> int | None:
        """Accesses that got it from another core, which had modified it; None: the threads share one core."""
        found = [one.hitm for one in self.accesses if one.hitm is not None]
        return sum(found) if found else None

    @property
    def falsely_shared(self) -> bool:
        """Whether most accesses that fetch it are to bytes that the other thread had not stored to (false sharing)."""
        return 2 * self.unrelated > self.moved

    @property
    def threads(self) -> Sequence[int]:
        """The threads that access it."""
        return sorted({one.thread for one in self.accesses})

    def to_dict(self) -> dict[str, Any]:
        """Keys: address, data (names), loads, stores, moved, unrelated, hitm, falsely_shared, threads (numbers),
        accesses (fields of LineAccess)."""
        return {
            "address": self.address,
            "data": list(self.data),
            "loads": self.loads,
            "stores": self.stores,
            "moved": self.moved,
            "unrelated": self.unrelated,
            "hitm": self.hitm,
            "falsely_shared": self.falsely_shared,
            "threads": list(self.threads),
            "accesses": [one._asdict() for one in self.accesses],
        }


class SharedLinesReport(NamedTuple):
    """The lines of a run that threads share and store to, those that moved most first. ``line_bytes``: of a line;
    ``cores``: on which the threads run."""

    line_bytes: int
    lines: Sequence[SharedLine]
    cores: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Keys: report, line_bytes, cores, lines (SharedLine.to_dict)."""
        return {
            "report": "c2c",
            "line_bytes": self.line_bytes,
            "cores": self.cores,
            "lines": [line.to_dict() for line in self.lines],
        }


LINE_BYTES = {InstructionSet.IA64: 128}
"""Bytes of a line where it has not 64: of the Itaniums' L2."""


def reader(table: BlockTable) -> SharedLines:
    """Return the reader of the stream, which has addresses."""
    return SharedLines(table, LINE_BYTES.get(table.instruction_set, 64))


def shared_lines_report(
    seen: SharedLines,
    objects: LoadedObjects,
    demangle: bool,
    table: BlockTable,
    cores: IntervalCores | None = None,
) -> SharedLinesReport:
    """Return the report on the lines that the reader has seen; ``cores``: on which the threads ran, None: on one.
    LostError: there was no memory for some."""
    nothing_is_lost([seen.failure, *([cores.failure] if cores else [])])
    hitm = _modified_elsewhere(table, cores) if cores else None
    names, data = FunctionNames(objects, demangle, table.instruction_set), DataNames(objects)
    lines = []
    for address, group in groupby(seen.accesses(), key=lambda row: row[0]):
        accesses = [
            LineAccess(thread, instruction, _place(names, instruction), data.name(address + offset), offset, *counts)
            for _, thread, instruction, offset, *counts in group
        ]
        if hitm is not None:
            accesses = [
                one._replace(hitm=hitm.pop((one.thread, one.instruction, address + one.offset), 0)) for one in accesses
            ]
        accesses.sort(key=lambda one: (-one.moved, one.offset, one.thread, one.instruction))
        if len({one.thread for one in accesses}) > 1 and any(one.stores for one in accesses):
            lines.append(SharedLine(address, accesses))
    lines.sort(key=lambda line: (-(line.hitm or 0), -line.moved, line.address))
    return SharedLinesReport(1 << seen.line_shift, lines, cores.coherent.cores if cores else 1)


def _modified_elsewhere(table: BlockTable, cores: IntervalCores) -> dict[tuple[int, int, int], int]:
    """Return how often an instruction of a thread got a line that another core had modified: by thread, address of the
    instruction, and address in the line."""
    found: dict[tuple[int, int, int], int] = defaultdict(int)
    for address, block, number, thread, loads, stores in cores.coherent.modified_elsewhere():
        instruction = table.block(block).instructions[number].address
        found[thread, instruction, address] += loads + stores
    return found


def _place(names: FunctionNames, instruction: int) -> str:
    place, source = names.named_place(instruction).shown, names.source(instruction)
    return f"{place} {source}" if source else place
