"""By how much counts may grow: percentages, for all events and for single ones."""

from __future__ import annotations

import re
from fractions import Fraction

from pfmon.errors import BadValueError
from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEFAULT = Fraction(1, 100)
"""Counts repeat exactly as long as nothing changes; another library or compiler alone changes them a little."""

PERCENTAGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*%")


class Tolerances(NamedTuple):
    """The part by which counts may grow: of events with one of their own, by name in capitals, and of all others."""

    general: Fraction
    by_event: Mapping[str, Fraction]

    def of(self, event: str) -> Fraction:
        """That of an event."""
        return self.by_event.get(event.upper(), self.general)


def tolerances(option: str, text: str, events: Iterable[str] | None) -> Tolerances:
    """Tolerances from ``1%,LLC_MISSES=5%``; "": the default. ``option`` is what the user calls it, ``events`` are those
    that are counted, None: others do not matter. BadValueError: not in this form, twice for one event, or for an event
    that is not counted."""
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
    general = found.pop("", DEFAULT)
    return Tolerances(general, found)


def _part(percentage: str) -> Fraction | None:
    """A percentage as a part of the whole; None: it is none."""
    match = PERCENTAGE.fullmatch(percentage.strip())
    return Fraction(match[1]) / 100 if match and len(match[1]) < 100 else None
