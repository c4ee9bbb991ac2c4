"""Tables as HTML, for notebooks (Jupyter's ``_repr_html_``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

ROWS = 40
"""Rows of a table that are shown; a line says how many more there are."""


def html_table(columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> str:
    """Return a table. Numbers are right-aligned, whole ones with separators of thousands; None: empty."""
    parts = [f"<caption>{escape(caption)}</caption>"] if caption else []
    parts.append(f"<thead><tr>{_cells('th', columns)}</tr></thead>")
    parts.append("<tbody>" + "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows[:ROWS]) + "</tbody>")
    left = len(rows) - ROWS
    more = f"<p>{left:,} rows more</p>" if left > 0 else ""
    return f"<table>{''.join(parts)}</table>{more}"


def html_lines(lines: Iterable[str]) -> str:
    """Return a paragraph with these lines."""
    return f"<p>{'<br>'.join(map(escape, lines))}</p>"


def _cells(tag: str, values: Iterable[object]) -> str:
    return "".join(f'<{tag} style="text-align:{_side(value)}">{escape(_text(value))}</{tag}>' for value in values)


def _side(value: object) -> str:
    return "right" if isinstance(value, (int, float)) else "left"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
