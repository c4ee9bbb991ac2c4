"""Named areas of memory in which a program's loads missed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pfmon.program.elf import FORMS
from pfmon.program.loaded_objects import LoadedObjects, ObjectFile, shown_name
from pfmon.session.profile.memory_kinds import NAMES, kind_of

GAP = 1 << 16
"""Minimum bytes without a miss between two unnamed areas."""
NESTED = 8
"""Maximum number of objects that begin within another object."""
PARTS = 24
"""The parts of an area that are counted separately."""

Piece = tuple[int, tuple[int, int, int], int, int]
"""(address, misses that L2, L3, memory served, cycles, misses of all TLBs)."""


class Area(NamedTuple):
    """An object or another area of memory in which loads missed: its name and kind (object, data, heap, mapped, stack,
    registers), start and end, misses served by L2, L3 and memory, the sum of their latencies, misses of all TLBs;
    ``reached``: first and last address with a miss; ``parts``: misses and latencies of each of PARTS between these."""

    name: str
    kind: str
    start: int
    end: int
    misses: tuple[int, int, int]
    cycles: int
    translations: int
    reached: tuple[int, int]
    parts: tuple[tuple[int, int], ...]


class _Named(NamedTuple):
    """A named range of memory."""

    start: int
    end: int
    name: str
    kind: str


def areas(pieces: Sequence[Piece], size: int, objects: LoadedObjects) -> list[Area]:
    """Return the areas of pieces of memory, of one size and in order of address; the area with most cycles first."""
    files = _Files(objects)
    program = objects.own[0].image if objects.own else None
    break_start = program.end if program else 0
    bits = FORMS[program.elf.machine].bits if program else 64
    groups: dict[_Named, list[Piece]] = {}
    last: _Named | None = None
    beyond = 0  # pieces before it are of the last one's place
    for piece in pieces:
        if piece[0] < beyond and last is not None:
            groups[last].append(piece)
            continue
        place = files.place(piece[0])
        beyond = files.end(piece[0], place) if place else 0
        place = place or files.place(piece[0] + size - 1) or _unnamed(piece[0], break_start, bits, last)
        if last in groups and last is not None and last.end < piece[0] and place == last._replace(end=place.end):
            groups[place] = groups.pop(last)  # an unnamed area grows
        groups.setdefault(place, []).append(piece)
        last = place
    found = [_area(place, of, size) for place, of in groups.items()]
    return sorted(found, key=lambda area: (-area.cycles, area.start))


class DataNames:
    """Names of memory by address."""

    def __init__(self, objects: LoadedObjects) -> None:
        self._files = _Files(objects)
        program = objects.own[0].image if objects.own else None
        self._break_start = program.end if program else 0
        self._bits = FORMS[program.elf.machine].bits if program else 64

    def name(self, address: int) -> str:
        """Return the name of an object or of another area, with the distance from an object's beginning."""
        place = self._files.place(address)
        if place is None:
            return NAMES[kind_of(address, self._break_start, self._bits)]
        if place.kind != "object" or address == place.start:
            return place.name
        return f"{place.name}+{address - place.start:#x}"


class _Files:
    """Objects and segments of all files; objects take precedence over their segments."""

    def __init__(self, objects: LoadedObjects) -> None:
        files = objects.everything()
        self._objects = sorted({one for file in files for one in _objects(file)})
        self._starts = [one.start for one in self._objects]
        self._segments = [one for file in files for one in _segments(file)]

    def place(self, address: int) -> _Named | None:
        """Return the object or segment of an address."""
        last = bisect_right(self._starts, address)
        for one in reversed(self._objects[max(0, last - NESTED) : last]):
            if address < one.end:
                return one
        return next((one for one in self._segments if one.start <= address < one.end), None)

    def end(self, address: int, place: _Named) -> int:
        """Return where the place of an address ends, or another object begins."""
        following = bisect_right(self._starts, address)
        return min(place.end, self._starts[following]) if following < len(self._starts) else place.end


def _objects(file: ObjectFile) -> Iterator[_Named]:
    for symbol in file.table.symbols():
        if symbol.kind == "object" and symbol.size:
            name = shown_name(symbol.name, file.path)
            yield _Named(symbol.address, symbol.address + symbol.size, name, "object")


def _segments(file: ObjectFile) -> Iterator[_Named]:
    path = file.image.path if file.image else ""
    for start, end in file.segments():
        yield _Named(start, end, f"no symbol, in {path.rpartition('/')[2]}", "data")


def _unnamed(address: int, break_start: int, bits: int, last: _Named | None) -> _Named:
    """Return the area of an address outside all files: the last one, if that is near and of the same kind."""
    kind = kind_of(address, break_start, bits)
    if last and last.kind == kind and address - last.end < GAP:
        return last._replace(end=address)
    return _Named(address, address, "", kind)


def _area(place: _Named, pieces: Sequence[Piece], size: int) -> Area:
    first, last = pieces[0][0], pieces[-1][0]
    span = last + size - first
    found, latencies = [0] * PARTS, [0] * PARTS
    l2 = l3 = memory = translated = 0
    for address, (second, third, fourth), cycles, translations in pieces:
        part = (address - first) * PARTS // span
        found[part] += second + third + fourth
        latencies[part] += cycles
        l2 += second
        l3 += third
        memory += fourth
        translated += translations
    return Area(
        place.name or NAMES[place.kind],
        place.kind,
        min(place.start, first) if not place.name else place.start,
        place.end if place.name else last + size,
        (l2, l3, memory),
        sum(latencies),
        translated,
        (first, last + size - 1),
        tuple(zip(found, latencies, strict=True)),
    )
