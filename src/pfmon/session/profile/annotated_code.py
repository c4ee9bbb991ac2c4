"""Counts of instructions and source lines, and listings of the functions with most cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pfmon.engine.api import Engine
from pfmon.errors import PfmonError
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.program.source_texts import SourceFile
from pfmon.session.profile.code_profile import SLOT, FunctionNames, Profile, add_to_row
from pfmon.session.profile.cpi_stack import FunctionRow
from pfmon.session.run.symbolic_ranges import numbers_of_object, resolver, source_file

MAX_LISTED_INSTRUCTIONS = 8000
"""Maximum number of listed instructions of all functions."""
MAX_FUNCTION_INSTRUCTIONS = 2000
"""Maximum of one function: above it only instructions with counts, and their neighbours, are listed."""
MAX_LISTED_FUNCTIONS = 80
MAX_LISTED_LINES = 20_000


class LineCounts(NamedTuple):
    """A source line and the counts of its instructions."""

    file: str
    line: int
    counts: tuple[int, ...]


class InstructionLine(NamedTuple):
    """An instruction: address (IA-64: of its bundle | slot), text, counts (None: nothing counted), its source line (""
    and 0: none)."""

    address: int
    text: str
    counts: tuple[int, ...] | None
    file: str
    line: int


class Listing(NamedTuple):
    """The instructions of a function, given by its position among the functions. ``whole``: the listing is complete."""

    function: int
    instructions: Sequence[InstructionLine]
    whole: bool


class AnnotatedCode(NamedTuple):
    """``lines``: by decreasing cycles; ``folders``: directories where source files with relative paths may be."""

    lines: Sequence[LineCounts]
    listings: Sequence[Listing]
    folders: Sequence[str]


def places(
    counts: Mapping[int, Sequence[int]], functions: Sequence[FunctionRow], names: FunctionNames, engine: Engine
) -> AnnotatedCode:
    """Return the places for counts by address: cycles by part, then instructions. ``functions``: by decreasing
    cycles."""
    return AnnotatedCode(_lines(counts, names), _listings(counts, functions, names, engine), _folders(functions, names))


def _lines(counts: Mapping[int, Sequence[int]], names: FunctionNames) -> list[LineCounts]:
    found: dict[tuple[str, int], list[int]] = {}
    for address in sorted(counts):
        if source := names.source(address):
            add_to_row(found, (source.file, source.line), counts[address])
    lines = [LineCounts(file, line, tuple(of)) for (file, line), of in found.items()]
    return sorted(lines, key=lambda line: (-sum(line.counts[:-1]), line.file, line.line))[:MAX_LISTED_LINES]


def _folders(functions: Sequence[FunctionRow], names: FunctionNames) -> list[str]:
    images = (names.image(row.address) for row in functions[:MAX_LISTED_FUNCTIONS] if row.address)
    return sorted({image.path.rpartition("/")[0] for image in images if image})


def _listings(
    counts: Mapping[int, Sequence[int]], functions: Sequence[FunctionRow], names: FunctionNames, engine: Engine
) -> list[Listing]:
    ordered = sorted(counts)
    found: list[Listing] = []
    room = MAX_LISTED_INSTRUCTIONS
    texts = _TextsOf(engine)
    for number, row in enumerate(functions[:MAX_LISTED_FUNCTIONS]):
        symbol = names.symbol(row.address) if row.address else None
        if symbol is None or symbol.address != row.address or room <= 0:
            continue
        end = symbol.address + symbol.size if symbol.size else _last(ordered, row, names)
        listed = texts.between(symbol.address, end)
        lines = [_line(address, text, counts, names) for address, text in listed]
        kept = lines if len(lines) <= min(MAX_FUNCTION_INSTRUCTIONS, room) else _around_counts(lines)[:room]
        room -= len(kept)
        if kept:
            found.append(Listing(number, kept, len(kept) == len(lines)))
    return found


def _last(ordered: Sequence[int], row: FunctionRow, names: FunctionNames) -> int:
    """Return the address after the last counted instruction of a function of unknown size."""
    own = [address for address in ordered if address >= row.address and names.function(address).address == row.address]
    return own[-1] + 16 if own else row.address


def _line(address: int, text: str, counts: Mapping[int, Sequence[int]], names: FunctionNames) -> InstructionLine:
    source = names.source(address)
    own = counts.get(address)
    return InstructionLine(address, text, tuple(own) if own else None, *(source or ("", 0)))


def _around_counts(lines: Sequence[InstructionLine]) -> list[InstructionLine]:
    """Return the instructions with counts, and their neighbours."""
    counted = {number for number, line in enumerate(lines) if line.counts}
    near = counted | {number + step for number in counted for step in (-1, 1)}
    return [line for number, line in enumerate(lines) if number in near]


class _TextsOf:
    """Texts of instructions, requested once from engines that must search all blocks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: list[tuple[int, str]] | None = None
        self._whole = engine.instruction_set not in SLOT

    def between(self, first: int, beyond: int) -> list[tuple[int, str]]:
        if not self._whole:
            return self._engine.listing(first, beyond)
        if self._known is None:
            self._known = self._engine.listing(0, 1 << 64)
        return [one for one in self._known if first <= one[0] < beyond]


def listed(
    place: tuple[int, int] | SourceFile | str,
    profile: Profile,
    engine: Engine,
    objects: LoadedObjects,
    notes: list[str],
) -> list[tuple[int, str]] | SourceFile:
    """Return address and text of the instructions of a range or of a name, which may have been mapped during the run,
    or the source file. Sets the files of ``profile``; appends errors about the name to ``notes``."""
    if isinstance(place, str):
        try:
            profile.files = numbers_of_object(objects, place)
            place = source_file(objects.everything(), place) or resolver(objects.everything())(place)
        except PfmonError as error:
            notes.append(f"--annotate={place}: {error}")
            return []
    return place if isinstance(place, SourceFile) else engine.listing(*place)
