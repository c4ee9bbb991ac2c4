"""Inlined functions by address, from DWARF (version 5, section 3.3.8: inlined subroutines)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pfmon.errors import PfmonError
from pfmon.program.compilation_units import CompilationUnits, value

SUBROUTINE = "DW_TAG_inlined_subroutine"
ORIGINS = ("DW_AT_abstract_origin", "DW_AT_specification")
"""Attributes that refer to the entry with further attributes."""
NAMES = ("DW_AT_linkage_name", "DW_AT_name")


class InlinedCode(NamedTuple):
    """Code [start, end) of a function inlined elsewhere. ``offset``: of its DWARF entry; functions inlined into it have
    larger offsets."""

    start: int
    end: int
    offset: int
    name: str


def inlined_within(units: CompilationUnits, bias: int, path: str, first: int, beyond: int) -> list[InlinedCode]:
    """Return the functions inlined in a range of a file's code, at addresses with the load bias, the innermost first,
    with linkage names. PfmonError: the DWARF is damaged."""
    try:
        found = list(_read(units, first - bias, beyond - bias))
    except Exception as error:  # pyelftools raises any exception on damaged data
        raise PfmonError(f"{path}: its DWARF is damaged ({error})") from None
    moved = [one._replace(start=one.start + bias, end=one.end + bias) for one in found]
    return sorted(moved, key=lambda one: (one.end - one.start, -one.offset))


def _read(units: CompilationUnits, first: int, beyond: int) -> Iterator[InlinedCode]:
    for unit in units.around(first, beyond):
        for entry in unit.iter_DIEs():
            if entry.tag != SUBROUTINE:
                continue
            for start, end in units.ranges(entry):
                if start < beyond and first < end:
                    yield InlinedCode(start, end, entry.offset, _name(entry))


def _name(entry: Any) -> str:
    """Return the function's name, from its entry or the entry that this refers to."""
    for _ in range(len(ORIGINS) + 1):
        found = next((value(entry, name) for name in NAMES if name in entry.attributes), None)
        if found is not None:
            return str(found.decode("utf-8", "replace"))
        origin = next((name for name in ORIGINS if name in entry.attributes), None)
        if origin is None:
            break
        entry = entry.get_DIE_from_attribute(origin)
    return "?"
