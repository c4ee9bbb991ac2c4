"""A check as text and as Markdown: a table of events, then the functions in which they grew."""

from __future__ import annotations

import html
from collections.abc import Sequence

from pfmon.report.count_text import value_text
from pfmon.report.differences.check import NOT_COMPARED, Check, verdict
from pfmon.report.differences.difference import ComparedResult, Pair
from pfmon.report.differences.difference_text import LONGEST, MISSING, signed_text

HEADINGS = ("event", "base", "new", "difference", "change", "tolerance", "verdict")
OF_FUNCTIONS = ("base", "new", "difference")


def check_text(found: Check, most: int) -> str:
    """Return the sides, the table, and for each event that grew at most ``most`` functions."""
    rows = [HEADINGS, *_rows(found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    sides = "".join(f"{side}\n" for side in _sides(found))
    parts = [sides, "".join(_line(row, widths) for row in rows)]
    for change in found.grown:
        if pairs := found.grown_functions(change.name):
            parts.append(_functions(change.name, *_parted(found, change.name, pairs, most)))
    return "\n".join([*parts, f"{conclusion(found)}\n"])


def check_markdown(found: Check, most: int) -> str:
    """Return the same for a comment of a pull request, a heading first."""
    lines = [f"### pfmon: {conclusion(found)}", "", _markdown_row(HEADINGS)]
    lines.append(_markdown_row(["---", *["---:"] * (len(HEADINGS) - 2), "---"]))
    for name, *cells, said in _rows(found):
        lines.append(_markdown_row([_code(name), *cells, f"**{said}**" if said == "grew" else said]))
    for change in found.grown:
        if pairs := found.grown_functions(change.name):
            lines += _markdown_functions(change.name, *_parted(found, change.name, pairs, most))
    lines += ["", *(f"- {_code(side)}" for side in _sides(found))]
    return "\n".join(lines) + "\n"


def conclusion(found: Check) -> str:
    """Return what came out in a few words."""
    many = len(found.changes)
    if found.grown:
        names = ", ".join(change.name for change in found.grown)
        return f"{names} grew by more than the tolerance" + (f" ({len(found.grown)} of {many} events)" * (many > 1))
    return f"no count grew by more than the tolerance ({many} event{'s' * (many != 1)})"


def _sides(found: Check) -> list[str]:
    return [_side("base", found.difference.a), _side("new", found.difference.b)]


def _side(name: str, side: ComparedResult) -> str:
    what = side.path if side.kind == "command" else f"{side.path} ({side.kind}): {' '.join(side.command)}"
    return f"{name + ':':<5} {what}, PMU {side.pmu}, machine {side.machine}"


def _rows(found: Check) -> list[tuple[str, ...]]:
    compared = [
        (
            change.name,
            *(value_text(value) for value in (change.before, change.now)),
            signed_text(Pair(change.name, change.before, change.now).difference),
            change.text(),
            f"{float(100 * change.tolerance):g}%",
            verdict(change),
        )
        for change in found.changes
    ]
    missing = [
        (pair.name, *(MISSING if value is None else value_text(value) for value in (pair.a, pair.b)), *[MISSING] * 3)
        for pair in found.missing
    ]
    return [*compared, *((*cells, NOT_COMPARED) for cells in missing)]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a row: the numbers right-aligned between the name and the verdict."""
    name, *numbers, said = row
    cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=False)]
    return "  ".join([name.ljust(widths[0]), *cells, said]) + "\n"


def _cells(pair: Pair) -> list[str]:
    values = [MISSING if value is None else value_text(value) for value in (pair.a, pair.b)]
    return [*values, signed_text(pair.growth)]


def _name(pair: Pair) -> str:
    name = pair.name if len(pair.name) <= LONGEST else f"{pair.name[: LONGEST - 3]}..."
    return f"{name} (new)" if pair.a is None else name


def _parted(found: Check, event: str, pairs: Sequence[Pair], most: int) -> tuple[list[Pair], str]:
    """Return the functions to be shown, and a line on the others: those that are too many, or whose changes are small
    (Difference.share)."""
    large, small = found.difference.parted(event, pairs, lambda pair: pair)
    left = [*large[most:], *small]
    more = f"{len(left)} more, together by {signed_text(sum(pair.growth for pair in left))}" if left else ""
    return large[:most], more


def _functions(event: str, pairs: Sequence[Pair], more: str) -> str:
    rows = [[*OF_FUNCTIONS, f"{event} grew in"], *([*_cells(pair), _name(pair)] for pair in pairs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(OF_FUNCTIONS))]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
    return "\n".join([*lines, more] if more else lines) + "\n"


def _markdown_functions(event: str, pairs: Sequence[Pair], more: str) -> list[str]:
    lines = ["", f"<details><summary>{html.escape(event)} grew in</summary>", ""]
    lines += [_markdown_row(["function", *OF_FUNCTIONS]), _markdown_row(["---", *["---:"] * len(OF_FUNCTIONS)])]
    lines += [_markdown_row([_code(_name(pair)), *_cells(pair)]) for pair in pairs]
    return [*lines, *(["", more] if more else []), "", "</details>"]


def _markdown_row(cells: Sequence[str]) -> str:
    """Return a row; a bar within a cell would end it, in code too."""
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _code(text: str) -> str:
    """Return a text as code, which a backtick in it would end."""
    return "`" + " ".join(text.split()).replace("`", "'") + "`"
