"""Tolerances: percentages by which counts may increase, for all events or single ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from pfmon.errors import BadValueError

DEFAULT = Fraction(1, 100)
"""Default: counts repeat exactly for the same files; another library or compiler changes them slightly."""

PERCENTAGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")


class Tolerances(NamedTuple):
    """The fraction by which counts may increase: by event (name in capitals), and for all others."""

    general: Fraction
    by_event: Mapping[str, Fraction]

    def of(self, event: str) -> Fraction:
        """Return the tolerance of an event."""
        return self.by_event.get(event.upper(), self.general)


def tolerances(option: str, text: str, events: Iterable[str] | None, default: Fraction = DEFAULT) -> Tolerances:
    """Parse tolerances such as ``1%,LLC_MISSES=5%``; "": the ``default``. ``option``: its name in errors; ``events``:
    the counted events, None: any event is accepted. BadValueError: malformed, twice for one event, or for an event that
    is not counted."""
    counted = None if events is None else {name.upper() for name in events}
    found: dict[str, Fraction] = {}
    for item in text.split(",") if text else ():
        name, equals, percentage = item.rpartition("=")
        name = name.strip().upper()
        part = _part(percentage)
        if part is None or bool(equals) != bool(name):
            raise BadValueError(f"{option}={item.strip()}: a percentage such as 1%, or EVENT=1%, is wanted")
        if name in found:
            raise BadValueError(f"{option}={text}: there are two percentages for {name or 'all events'}")
        if name and counted is not None and name not in counted:
            raise BadValueError(f"{option}={item.strip()}: {name} is not counted: only {', '.join(sorted(counted))}")
        found[name] = part
    general = found.pop("", default)
    return Tolerances(general, found)


def _part(percentage: str) -> Fraction | None:
    """Return a percentage as a fraction; None: it is malformed."""
    match = PERCENTAGE.fullmatch(percentage.strip())
    return Fraction(match[1]) / 100 if match and len(match[1]) < 100 else None
