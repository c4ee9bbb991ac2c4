"""Conditions of counters on the increment of a cycle: CMASK, INV and E (Intel SDM volume 3 section 30.2.1.1)."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.errors import PfmonError
from pfmon.pmu.model.programming import Monitor
from pfmon.signals import machine_signals


class Condition(NamedTuple):
    """``least``: minimum increment of a cycle, 0 as 1; ``invert``: less than that; ``edge``: not in the cycle before.
    ``occurrences``: that increment; ``every_cycle``: each cycle increments by one."""

    least: int
    invert: bool
    edge: bool
    occurrences: frozenset[int]
    every_cycle: bool


def condition_of(monitor: Monitor) -> Condition | None:
    """The condition of a counter, if it has one. PfmonError: its event has no per-cycle increments."""
    from pfmon.counting.totals.record_query import occurrences_of

    if not monitor.conditional:
        return None
    meaning = machine_signals.meanings().get(monitor.signal)
    occurrences: frozenset[int] = frozenset()
    if meaning and meaning.kind == "occurrence":
        occurrences = occurrences_of(monitor.signal)
    elif meaning and "CORE" not in machine_signals.named(monitor.signal):
        raise PfmonError(
            f"{monitor.event.name}: CMASK, INV and E look at cycles of the core, and this counts those of another clock"
        )
    every_cycle = meaning is not None and not occurrences
    return Condition(monitor.threshold, monitor.invert, monitor.edge, occurrences, every_cycle)
