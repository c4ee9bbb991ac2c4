"""perf's generic events: `generic_events.csv` of each PMU that has some."""

from __future__ import annotations

from functools import cache

from pfmon.csv_tables import rows
from pfmon.pmu.target import table_path


@cache
def generic_events(pmu: str) -> dict[str, str]:
    """Return generic name -> event of a PMU, without names that it lacks."""
    path = table_path(pmu, "generic_events")
    return {row[0]: row[1] for row in rows(path, ("name", "event"))} if path else {}
