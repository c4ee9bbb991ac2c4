"""Counts by region, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.report.count_text import value_text
from pfmon.report.profile_tables import aligned, cells
from pfmon.session.triggers.regions import RegionCounts


def region_table(regions: Sequence[RegionCounts], style: str = "plain") -> str:
    """Return a row for each region: its counts, how often it was entered, its name."""
    if not regions:
        return ""
    events = [count.name for count in regions[0].counts]
    rows = [
        (
            [
                *cells([count.value for count in one.counts], events, style),
                value_text(one.entered, style) if one.name else "",
            ],
            one.name or "[outside of all]",
        )
        for one in regions
    ]
    return aligned([*events, "entered"], "region", rows)
