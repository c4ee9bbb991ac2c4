"""Profiles as tables: a column for each event, then the function, block or instruction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pfmon.program.loaded_objects import shown_name
from pfmon.report.count_text import value_text
from pfmon.session.profile.code_profile import NO_LINE, ProfileRow
from pfmon.session.profile.python_profile import PythonRow
from pfmon.session.run.programmed_pmu import Value

GAP = "  "


class ProfileLine(NamedTuple):
    """An instruction of a function: address | slot, text, counts, and source position as text."""

    address: int
    text: str
    values: Sequence[Value] | None
    origin: str = ""


def function_table(events: Sequence[str], rows: Iterable[ProfileRow], style: str = "plain") -> str:
    """Return the counts by function, the largest first."""
    return _table(events, "function", rows, style)


def block_table(events: Sequence[str], rows: Iterable[ProfileRow], style: str = "plain") -> str:
    """Return the counts by basic block, the largest first."""
    return _table(events, "block", rows, style)


def line_table(events: Sequence[str], rows: Iterable[ProfileRow], style: str = "plain") -> str:
    """Return the counts by source line, the largest first; files by their names without folders."""
    names = [(row, shown_name(row.name.rpartition("/")[2], row.object)) for row in rows]
    return aligned(events, "line", [(cells(row.values, events, style), name) for row, name in names])


def python_function_table(events: Sequence[str], rows: Iterable[PythonRow], style: str = "plain") -> str:
    """Return the counts and calls by Python function, the largest first."""
    table = [
        ([*cells(row.values, events, style), value_text(row.calls, style) if row.calls else ""], _python_name(row))
        for row in rows
    ]
    return aligned([*events, "calls"], "Python function", table)


def python_line_table(events: Sequence[str], rows: Iterable[PythonRow], style: str = "plain") -> str:
    """Return the counts by line of a Python program, the largest first; files by their names without folders."""
    return aligned(events, "Python line", [(cells(row.values, events, style), _python_line(row)) for row in rows])


def _python_name(row: PythonRow) -> str:
    file = row.function.file.rpartition("/")[2]
    return f"{row.function.name} ({file}:{row.line})" if file else row.function.name


def _python_line(row: PythonRow) -> str:
    file = row.function.file.rpartition("/")[2]
    return f"{file}:{row.line} {row.function.name}" if file else row.function.name


def annotated(events: Sequence[str], name: str, lines: Iterable[ProfileLine], style: str = "plain") -> str:
    """Return a function's instructions in order, address | slot and text, with their counts (None: nothing);
    instructions of a source line follow that line, which names the functions inlined there."""
    rows: list[tuple[list[str], str]] = []
    before = ""
    for line in lines:
        if line.origin != before:
            rows.append(([""] * len(events), line.origin or NO_LINE))
            before = line.origin
        rows.append((cells(line.values, events, style), f"{line.address:x} {line.text}"))
    return aligned(events, f"instructions of {name}", rows)


def origin_text(path: str, line: int, inlined: Sequence[str], text: str) -> str:
    """Return the heading of a source line's instructions, ``primes.c:12 (bit, inlined) return bits[n];``; "" without
    one."""
    if not path:
        return ""
    functions = f" ({', in '.join(inlined)}, inlined)" if inlined else ""
    return f"{path.rpartition('/')[2]}:{line}{functions} {text}".rstrip()


def _table(events: Sequence[str], what: str, rows: Iterable[ProfileRow], style: str) -> str:
    return aligned(events, what, [(cells(row.values, events, style), f"{row.address:#x} {row.shown}") for row in rows])


def cells(values: Sequence[Value] | None, events: Sequence[str], style: str) -> list[str]:
    """Return the values as text, empty if nothing was counted."""
    if values is None:
        return [""] * len(events)
    return [value_text(value, style) for value in values]


def aligned(events: Sequence[str], what: str, rows: Sequence[tuple[list[str], str]]) -> str:
    """Return rows with columns as wide as their contents, numbers right-aligned."""
    table = [(list(events), what), *rows]
    widths = [max(len(numbers[column]) for numbers, _ in table) for column in range(len(events))]
    lines = []
    for numbers, text in table:
        columns = [cell.rjust(width) for cell, width in zip(numbers, widths, strict=True)]
        lines.append(GAP.join([*columns, text]) + "\n")
    return "".join(lines)
