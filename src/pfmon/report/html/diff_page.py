"""The HTML page of the differences of two results."""

from __future__ import annotations

from pfmon.report.difference import Difference
from pfmon.report.html.page import page


def diff_page(found: Difference) -> str:
    """Return the file's text."""
    return page("pfmon diff", {"parts": found.parts, **found.to_dict()}, ("diff.js",))
