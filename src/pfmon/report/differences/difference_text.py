"""The differences of two results as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pfmon.report.count_text import UNDEFINED, value_text
from pfmon.report.differences.difference import CYCLES, ChangedLine, ComparedResult, Difference, Pair
from pfmon.report.differences.difference_conclusion import conclusion

MISSING = "-"
LONGEST = 100
"""Characters of a name that are printed; names of C++ templates may have thousands. JSON has all."""
HEADINGS = ("A", "B", "B - A", "change")
Row = TypeVar("Row")


def difference_text(found: Difference, most: int, style: str = "plain") -> str:
    """Return the tables as text, with at most ``most`` rows of functions, and of lines. Changes below the threshold are
    one line."""
    sides = "".join(_side(name, side) for name, side in (("A", found.a), ("B", found.b)))
    said = conclusion(found)
    parts = [f"{sides}\n{said}\n" if said else sides]
    if found.counts:
        parts.append(_table("event", (_cells(pair, style) for pair in found.counts)))
    if found.causes:
        parts.append(_causes(found, style))
        parts.append(_functions(found, CYCLES, found.functions, lambda one: one.cycles, most, style))
        parts.append(_lines(found, CYCLES, found.lines, most, style))
    for event, pairs in found.by_event.items():
        parts.append(_functions(found, event, pairs, lambda pair: pair, most, style))
    for event, lines in found.lines_by_event.items():
        parts.append(_lines(found, event, lines, most, style))
    return "\n".join(part for part in parts if part)


def small_text(found: Difference, event: str, what: str, pairs: Sequence[Pair]) -> str:
    """Return the line for changes below the threshold; "" for none."""
    pairs = [pair for pair in pairs if pair.a != pair.b]
    if not pairs:
        return ""
    share, together = f"{float(100 * found.share(event)):g}%", sum(pair.growth for pair in pairs)
    number = f"{len(pairs)} {what}{'s' * (len(pairs) > 1)}"
    return f"{number} changed by less than {share} of the {event}, together by {signed_text(together, 'plain')}"


def _side(name: str, side: ComparedResult) -> str:
    command, pmu = " ".join(side.command), side.pmu
    return f"{name}: {side.path} ({side.kind}): {command}, PMU {pmu}, machine {side.machine}\n"


def _causes(found: Difference, style: str) -> str:
    """Return the table of cycles by cause, and cycles per instruction; of components those that change much."""
    large, small = found.parted(CYCLES, [one for one in found.causes if one.part], lambda one: one.cycles)
    rows = []
    for cause in found.causes:
        if not cause.part or cause in large:
            rows.append([*_cells(cause.cycles, style)[:-1], f"{'  ' if cause.part else ''}{cause.name}"])
    cpi = found.causes[0].cpi
    rows.append([_cpi(cpi.a), _cpi(cpi.b), _cpi(cpi.difference, "+"), _change(cpi), "cycles an instruction"])
    left = small_text(found, CYCLES, "component", [one.cycles for one in small])
    return _table("cycles by cause", rows) + (f"{left}\n" if left else "")


def _functions(
    found: Difference, event: str, rows: Sequence[Row], counts: Callable[[Row], Pair], most: int, style: str
) -> str:
    large, small = found.parted(event, rows, counts)
    left = small_text(found, event, "function", [counts(row) for row in small])
    if not rows:
        return "no function differs\n"
    cells = [_row(pair, style) for pair in map(counts, large)]
    table = _limited(f"{event} by function", cells, most) if cells else ""
    return table + (f"{left}\n" if left else "")


def _lines(found: Difference, event: str, lines: Sequence[ChangedLine], most: int, style: str) -> str:
    """Return the table of source lines with their texts: an edited line has both."""
    large, small = found.parted(event, lines, lambda line: line.counts)
    rows = []
    for line in large[:most]:
        place = line.place
        first = place.text_a if place.line_a else place.text_b
        edited = None not in (place.text_a, place.text_b) and place.text_a != place.text_b
        cells = _row(line.counts, style)
        rows.append([*cells[:-1], f"{cells[-1]}  {first or ''}".rstrip()])
        if edited:
            rows.append(["", "", "", "", f"{' ' * (len(cells[-1]) - 3)}now  {place.text_b}"])
    left = small_text(found, event, "line", [line.counts for line in small])
    more = len(large) - most
    parts = [_table(f"{event} by line", rows) if rows else "", f"{more} more\n" if more > 0 else ""]
    return "".join([*parts, f"{left}\n" if left else ""])


def _row(pair: Pair, style: str) -> list[str]:
    """Return the cells of a function or line, which one side may lack: its count is the difference then."""
    name = pair.name if len(pair.name) <= LONGEST else f"{pair.name[: LONGEST - 3]}..."
    a, b, _, change, _ = _cells(pair, style)
    return [a, b, signed_text(pair.growth, style), change, f"{name}{_presence(pair)}"]


def _presence(pair: Pair) -> str:
    return " (new)" if pair.a is None else " (gone)" if pair.b is None else ""


def _cpi(value: int | float | None, sign: str = "") -> str:
    return UNDEFINED if value is None else format(value, f"{sign}.4f")


def _cells(pair: Pair, style: str) -> list[str]:
    values = [MISSING if value is None else value_text(value, style) for value in (pair.a, pair.b)]
    return [*values, signed_text(pair.difference, style), _change(pair), pair.name]


def signed_text(value: int | float | None, style: str = "plain") -> str:
    """Format a difference with its sign."""
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
        "  ".join([*(cell.rjust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]).rstrip() + "\n"
        for line in lines
    )
