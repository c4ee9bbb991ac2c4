"""The counts of a run by Python function and line: exact, as every count is, for whole instructions of bytecode.

An instruction belongs to the Python function and the line whose bytecode executes, with all native code that this
calls, up to the next Python function (docs/programs.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pfmon.counting._counting import PYTHON_FUNCTIONS
from pfmon.program.guest_functions import GuestFunction
from pfmon.session.profile.call_rows import RawNode
from pfmon.session.profile.cpi_stack import FunctionRow
from pfmon.session.run.programmed_pmu import Value

OUTSIDE = GuestFunction("[no Python function]", "", 0)
"""Code that executes before the first Python function and after the last one."""
RawLine = tuple[int, int, Sequence[int]]
"""(function, line, counts)"""


class PythonRow(NamedTuple):
    """A Python function, or one of its lines: ``calls`` of the function, resumed generators included; a value for each
    event."""

    function: GuestFunction
    line: int
    calls: int
    values: tuple[Value, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return name, file, line, calls, counts."""
        return {
            "name": self.function.name,
            "file": self.function.file or None,
            "line": self.line or None,
            "calls": self.calls,
            "counts": list(self.values),
        }


class PythonProfile(NamedTuple):
    """Rows of all functions, and of all lines, the largest first. The sums of both are the counts of the run."""

    functions: Sequence[PythonRow]
    lines: Sequence[PythonRow]

    def to_dict(self) -> dict[str, Any]:
        """Return functions and lines, as PythonRow.to_dict has them."""
        return {"functions": [row.to_dict() for row in self.functions], "lines": [row.to_dict() for row in self.lines]}


def python_profile(
    nodes: Sequence[RawNode],
    lines: Sequence[RawLine],
    functions: Sequence[GuestFunction],
    values: Callable[[Sequence[int]], Sequence[Value]],
) -> PythonProfile:
    """Return the rows of a calling context tree; ``values``: those of the events, from a node's counts."""
    calls = [0] * (len(functions) + 1)
    for _, entry, _, called, _ in nodes:
        if entry > PYTHON_FUNCTIONS:
            calls[entry - PYTHON_FUNCTIONS] += called
    named = [OUTSIDE, *functions]
    of_functions = _by_function(nodes, lines)
    of_lines: dict[tuple[int, int], list[int]] = {}
    for function, line, counts in [(0, 0, _outside(nodes, lines)), *lines]:
        _add(of_lines.setdefault((function, line), [0] * len(counts)), counts)
    return PythonProfile(
        _ordered(PythonRow(named[f], named[f].line, calls[f], tuple(values(c))) for f, c in of_functions.items()),
        _ordered(PythonRow(named[f], line, calls[f], tuple(values(c))) for (f, line), c in of_lines.items()),
    )


def python_rows(
    nodes: Sequence[RawNode], lines: Sequence[RawLine], functions: Sequence[GuestFunction]
) -> list[FunctionRow]:
    """Return Python functions as the cycle breakdown has functions, the one with the most cycles first. ``nodes``,
    ``lines``: cycles by part, then instructions."""
    named, sums = [OUTSIDE, *functions], _by_function(nodes, lines)
    rows = [
        FunctionRow(named[number].name, named[number].line, tuple(counts[:-1]), counts[-1], named[number].file)
        for number, counts in sums.items()
        if any(counts)
    ]
    return sorted(rows, key=lambda row: -sum(row.cycles))


def _by_function(nodes: Sequence[RawNode], lines: Sequence[RawLine]) -> dict[int, list[int]]:
    """Return the counts of each function by its number; 0: what no function executed."""
    sums: dict[int, list[int]] = {}
    for function, _, counts in [(0, 0, _outside(nodes, lines)), *lines]:
        _add(sums.setdefault(function, [0] * len(counts)), counts)
    return sums


def _outside(nodes: Sequence[RawNode], lines: Sequence[RawLine]) -> list[int]:
    """Return the counts of what no Python function executed: those of all nodes less those of all lines."""
    whole = [sum(counts) for counts in zip(*(node[-1] for node in nodes), strict=True)]
    python = [sum(counts) for counts in zip(*(line[-1] for line in lines), strict=True)]
    return [a - b for a, b in zip(whole, python, strict=True)]


def _add(to: list[int], counts: Sequence[int]) -> None:
    for place, count in enumerate(counts):
        to[place] += count


def _ordered(rows: Iterable[PythonRow]) -> list[PythonRow]:
    def largest_first(row: PythonRow) -> tuple[list[float], str, int]:
        return [-(value or 0) for value in row.values], row.function.file, row.line

    return sorted((row for row in rows if any(row.values)), key=largest_first)
