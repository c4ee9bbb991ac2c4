"""Montecito's counters that are correct when both hardware threads of a core run.

Duplicated counters count while their thread is in the background, banked ones do not (Montecito manual section 3.3.2).
An event of the active thread counts on both kinds. Other events (section 4.2.1) need duplicated counters: floating
events belong to a thread that may be in the background by then, causal ones to no thread, and self-floating ones are
either.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import RuleError
from pfmon.pmu.model.event_table import Event

DUPLICATED = range(4, 10)
BEYOND_THE_ACTIVE_THREAD = ("floating", "self-floating", "causal")
CPU_OP_CYCLES = 0x12


def counters_for_two_threads(event: Event) -> tuple[int, ...]:
    """Return the counters that count an event correctly (Montecito manual section 4.2.1): CPU_OP_CYCLES is the
    exception there, and the event that only PMD10 counts is one of section 3.3.3."""
    duplicated = tuple(number for number in event.counters if number in DUPLICATED)
    if event.type not in BEYOND_THE_ACTIVE_THREAD or event.code == CPU_OP_CYCLES:
        return event.counters
    return duplicated or event.counters


def banked_counters_count_active_events_only(events: Sequence[Event]) -> RuleError:
    """Return the error for events that would fit only on banked counters, which do not count while their thread is in
    the background (Montecito manual sections 3.3.2 and 4.2.1)."""
    bound = [event for event in events if counters_for_two_threads(event) != event.counters]
    names = ", ".join(f"{event.name} ({event.type})" for event in bound)
    return RuleError(
        "banked_counters_count_active_events_only",
        f"with two threads these count right on PMD{DUPLICATED[0]}-{DUPLICATED[-1]} alone, and there are too many of"
        f" them: {names}. --unlimited counts them in one run all the same, and --no-smt-rules on any counter",
        "Montecito manual section 4.2.1",
    )
