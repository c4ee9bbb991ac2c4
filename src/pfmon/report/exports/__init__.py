"""Samples for other tools. A new format is added to EXPORTS."""

from __future__ import annotations

from pfmon.report.exports.collapsed import Collapsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.report.exports.export import Export

EXPORTS: dict[str, type[Export]] = {"collapsed": Collapsed}
"""By the name that --export takes."""
