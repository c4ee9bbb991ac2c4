"""The HTML pages that compare results: those of a sweep, and two results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pfmon.report.difference import Difference
from pfmon.report.html.page import page


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
    """Return the file's text."""
    return page("pfmon diff", {"parts": found.parts, **found.to_dict()}, ("diff.js",))
