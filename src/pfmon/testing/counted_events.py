"""The events of tests: instructions, unless others are named."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import PfmonError
from pfmon.pmu.model.generic_events import spelled

DEFAULT = ("INSTRUCTIONS_RETIRED",)
"""Misses and cycles need a machine, through which the whole start of Python goes: a minute or more a test."""


def names_of(events: str | Sequence[str] | None) -> list[str]:
    """Return event names, given as ``"a,b"`` or a sequence, as they are printed; None: the default ones. PfmonError: no
    event, or one twice."""
    if events is None:
        return [*DEFAULT]
    names = [spelled(name.strip()) for name in (events.split(",") if isinstance(events, str) else events)]
    if not all(names) or not names or len({*names}) < len(names):
        raise PfmonError(f"events={events!r}: names of events are wanted, each once")
    return names
