"""The HTML pages that compare results: those of a sweep, and two results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from pfmon.report.differences.difference import CYCLES, ChangedLine, Difference, Pair
from pfmon.report.differences.difference_conclusion import conclusion
from pfmon.report.differences.difference_text import small_text
from pfmon.report.html.page import page

Row = TypeVar("Row")


class SweptCells(Protocol):
    """The table of a sweep, as a page shows it (library/sweep/swept_table.py)."""

    title: str
    columns: list[str]
    rows: list[list[Any]]
    figures: list[str]
    varied: list[str]
    labels: list[str]
    events: list[str]
    parts: list[str]

    def about(self) -> Mapping[str, str]:
        """Return lines of the summary by their names."""


def sweep_page(swept: SweptCells) -> str:
    """Return the file's text."""
    names = ("title", "columns", "rows", "figures", "varied", "labels", "events", "parts")
    data = {**{name: getattr(swept, name) for name in names}, "about": list(swept.about().items())}
    return page(f"pfmon sweep: {swept.title}", data, ("sweep.js",))


def diff_page(found: Difference) -> str:
    """Return the file's text. Causes, functions and lines whose changes are small are one line of text (``small``)."""
    small: dict[str, str] = {}

    def large(event: str, what: str, rows: Sequence[Row], counts: Callable[[Row], Pair]) -> list[Row]:
        kept, left = found.parted(event, rows, counts)
        small[f"{what} {event}"] = small_text(found, event, what, [counts(row) for row in left])
        return kept

    def lines(event: str, rows: Sequence[ChangedLine]) -> list[ChangedLine]:
        return large(event, "line", rows, lambda line: line.counts)

    components = large(CYCLES, "component", [one for one in found.causes if one.part], lambda one: one.cycles)
    shown = found._replace(
        causes=[one for one in found.causes if not one.part or one in components],
        functions=large(CYCLES, "function", found.functions, lambda one: one.cycles),
        by_event={event: large(event, "function", rows, lambda pair: pair) for event, rows in found.by_event.items()},
        lines=lines(CYCLES, found.lines),
        lines_by_event={event: lines(event, rows) for event, rows in found.lines_by_event.items()},
    )
    data = {**shown.to_dict(), "conclusion": conclusion(found), "parts": found.parts, "small": small}
    return page("pfmon diff", data, ("diff.js",))
