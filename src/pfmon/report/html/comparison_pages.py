"""The HTML pages that compare results: those of a sweep, and two results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pfmon.report.differences.difference import CYCLES, ChangedLine, Difference, Pair
from pfmon.report.differences.difference_conclusion import conclusion
from pfmon.report.differences.difference_text import small_text
from pfmon.report.html.page import page

Row = TypeVar("Row")


def sweep_page(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    figures: Sequence[str],
    events: Sequence[str],
    parts: Sequence[str],
    about: Mapping[str, str],
) -> str:
    """Return the file's text. ``figures``, ``events`` and ``parts`` name columns: varied figures, counted events,
    cycles by part; ``about``: lines of the summary."""
    data = {
        "title": title,
        "columns": list(columns),
        "rows": rows,
        "figures": list(figures),
        "events": list(events),
        "parts": list(parts),
        "about": list(about.items()),
    }
    return page(f"pfmon sweep: {title}", data, ("sweep.js",))


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
