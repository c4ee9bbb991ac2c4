"""The differences of two results as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pfmon.report.count_text import UNDEFINED, value_text
from pfmon.report.difference import ComparedResult, Difference, Pair

MISSING = "-"
HEADINGS = ("A", "B", "B - A", "change")


def difference_text(found: Difference, most: int, style: str = "plain") -> str:
    """Return the tables as text, with at most ``most`` rows of functions."""
    parts = ["".join(_side(name, side) for name, side in (("A", found.a), ("B", found.b)))]
    if found.counts:
        parts.append(_table("event", (_cells(pair, style) for pair in found.counts)))
    if found.causes:
        parts.append(_causes(found))
        rows = [_cells(one.cycles, style) for one in found.functions]
        parts.append(_limited("cycles by function", rows, most) if rows else "no function differs\n")
    for event, pairs in found.by_event.items():
        parts.append(_limited(f"{event} by function", [_cells(pair, style) for pair in pairs], most))
    return "\n".join(parts)


def _side(name: str, side: ComparedResult) -> str:
    command, pmu = " ".join(side.command), side.pmu
    return f"{name}: {side.path} ({side.kind}): {command}, PMU {pmu}, machine {side.machine}\n"


def _causes(found: Difference) -> str:
    """Return the table of cycles per instruction, by cause."""
    rows = []
    for cause in found.causes:
        pair, name = cause.cpi, f"{'  ' if cause.part else ''}{cause.name}"
        rows.append([_cpi(pair.a), _cpi(pair.b), _cpi(pair.difference, "+"), _change(pair), name])
    return _table("cycles an instruction", rows)


def _cpi(value: int | float | None, sign: str = "") -> str:
    return UNDEFINED if value is None else format(value, f"{sign}.4f")


def _cells(pair: Pair, style: str) -> list[str]:
    values = [MISSING if value is None else value_text(value, style) for value in (pair.a, pair.b)]
    return [*values, _signed(pair.difference, style), _change(pair), pair.name]


def _signed(value: int | float | None, style: str) -> str:
    if value is None:
        return MISSING
    return ("+" if value > 0 else "-" if value < 0 else "") + value_text(abs(value), style)


def _change(pair: Pair) -> str:
    return MISSING if pair.change is None else f"{100 * pair.change:+.2f}%"


def _limited(what: str, rows: Sequence[list[str]], most: int) -> str:
    left = len(rows) - most
    return _table(what, rows[:most]) + (f"{left} more\n" if left > 0 else "")


def _table(what: str, rows: Iterable[list[str]]) -> str:
    """Return rows of right-aligned numbers followed by the name."""
    lines = [[*HEADINGS, what], *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "".join(
        "  ".join([*(cell.rjust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]) + "\n"
        for line in lines
    )
