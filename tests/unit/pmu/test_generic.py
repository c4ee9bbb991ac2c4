"""Perf's generic events on the Itaniums' PMUs."""

import pytest

from pfmon.engine.linux.perf.perf_sources import CACHES, GENERIC, OPERATIONS
from pfmon.pmu import IA64, get
from pfmon.pmu.model.event_table import generic_events

NAMES = {*GENERIC, *(f"{cache}-{what}{end}" for cache in CACHES for what in OPERATIONS for end in ("s", "-misses"))}


@pytest.mark.parametrize("pmu", IA64)
def test_generic_events_are_events_that_are_modelled(pmu: str) -> None:
    found = generic_events(pmu)
    assert {"cycles", "instructions", "cache-references", "cache-misses", "branches"} <= set(found)
    for name in found.values():
        event = get(pmu).events[name]
        assert event.fidelity != "unmodelled" and event.ear == "-" and event.alias_of == "-"


@pytest.mark.parametrize("pmu", IA64)
def test_generic_events_have_the_names_that_perf_gives(pmu: str) -> None:
    # `perf list` calls them so; those of operations end in s, or in -misses.
    assert set(generic_events(pmu)) <= NAMES
