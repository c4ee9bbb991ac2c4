"""Functions by address with what is inlined into them, from DWARF (version 5, sections 3.3.3 and 3.3.8)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pfmon.errors import PfmonError
from pfmon.program.compilation_units import CompilationUnits, value
from pfmon.program.inlined_code import NAMES, ORIGINS, SUBROUTINE

FUNCTION = "DW_TAG_subprogram"


class Scope(NamedTuple):
    """Code [start, end) of a function, or of one inlined there. ``name``: its linkage name; ``line``: where it is
    declared; ``call_line``: where it is inlined, 0 for the function itself."""

    start: int
    end: int
    name: str
    line: int
    call_line: int


class FunctionScopes:
    """The functions of an ELF file with code at some addresses, with the load bias."""

    def __init__(self, units: CompilationUnits, bias: int, path: str, addresses: Sequence[int]) -> None:
        """``addresses``: in order. PfmonError: the DWARF is damaged."""
        self._functions: list[tuple[Scope, list[Scope]]] = []
        try:
            for unit in units.with_code_at([address - bias for address in addresses]):
                self._functions += _functions(units, unit, bias)
        except Exception as error:  # pyelftools raises any exception on damaged data
            raise PfmonError(f"{path}: its DWARF is damaged ({error})") from None
        self._functions.sort(key=lambda one: one[0].start)
        self._starts = [function.start for function, _ in self._functions]

    def boundaries(self) -> Iterator[int]:
        """Yield the addresses at which scopes begin and end."""
        for function, inlined in self._functions:
            for scope in (function, *inlined):
                yield from (scope.start, scope.end)

    def stack(self, address: int) -> list[Scope]:
        """Return the scopes of an instruction, the function first; [] for code of no function."""
        place = bisect_right(self._starts, address) - 1
        if place < 0 or address >= self._functions[place][0].end:
            return []
        function, inlined = self._functions[place]
        return [function, *(scope for scope in inlined if scope.start <= address < scope.end)]


def _functions(units: CompilationUnits, unit: Any, bias: int) -> Iterator[tuple[Scope, list[Scope]]]:
    """Yield each range of each function of a unit, with what is inlined in it, the outer scopes first."""
    found: list[tuple[list[Scope], list[Scope]]] = []
    for entry in unit.iter_DIEs():
        if entry.tag == FUNCTION:
            found.append((_scopes(units, entry, bias), []))
        elif entry.tag == SUBROUTINE and found:
            found[-1][1].extend(_scopes(units, entry, bias))
    for ranges, inlined in found:
        for one in ranges:
            yield one, [scope for scope in inlined if one.start <= scope.start < one.end]


def _scopes(units: CompilationUnits, entry: Any, bias: int) -> list[Scope]:
    ranges = [(start, end) for start, end in units.ranges(entry) if start < end]
    if not ranges:
        return []
    names = (_attribute(entry, name) for name in NAMES)
    name = next((one.decode("utf-8", "replace") for one in names if one is not None), "?")
    line, call_line = _attribute(entry, "DW_AT_decl_line") or 0, value(entry, "DW_AT_call_line") or 0
    return [Scope(start + bias, end + bias, name, line, call_line) for start, end in ranges]


def _attribute(entry: Any, name: str) -> Any:
    """Return an attribute of an entry, or of the one that this refers to; None: neither has it."""
    for _ in range(len(ORIGINS) + 1):
        if name in entry.attributes:
            return value(entry, name)
        origin = next((one for one in ORIGINS if one in entry.attributes), None)
        if origin is None:
            return None
        entry = entry.get_DIE_from_attribute(origin)
    return None
