"""perf's generic events on the Itaniums' PMUs: ``generic_events.csv``."""

from __future__ import annotations

from functools import cache
from os.path import dirname, join

from pfmon.csv_tables import rows

TABLE = join(dirname(__file__), "generic_events.csv")
PMUS = ("itanium", "itanium2", "montecito")


@cache
def generic_events(pmu: str) -> dict[str, str]:
    """Return generic name -> event of a PMU, without names that it lacks."""
    place = PMUS.index(pmu)
    found = {name: of_pmus[place] for name, *of_pmus in rows(TABLE, ("name", *PMUS))}
    return {name: event for name, event in found.items() if event != "-"}
