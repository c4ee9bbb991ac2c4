"""A check of counts against those of an earlier state: which grew by more than their tolerance, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pfmon.report.baseline_table import Change
from pfmon.report.differences.difference import Difference, Pair

NOT_COMPARED = "not compared"
"""The verdict on an event that one side lacks."""


class Check(NamedTuple):
    """The changes of the events that both sides have, in the order of ``new``; ``missing``: events of one side
    alone; ``difference``: all of it, as `diff` returns it."""

    changes: Sequence[Change]
    missing: Sequence[Pair]
    difference: Difference

    @property
    def grown(self) -> list[Change]:
        """The events that grew by more than their tolerance."""
        return [change for change in self.changes if change.grew]

    def grown_functions(self, event: str) -> list[Pair]:
        """Return the functions in which an event grew, the largest difference first; none if they were not counted."""
        return [pair for pair in self.difference.by_event.get(event, ()) if pair.growth > 0]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that --json prints: grew (whether a tolerance is exceeded), base and new
        (ComparedResult.to_dict), events (name, base, new, difference, change in percent, tolerance in percent,
        verdict; numbers are null if undefined), functions (for each event that grew, Pair.to_dict of those where)."""
        return {
            "grew": bool(self.grown),
            "base": self.difference.a.to_dict(),
            "new": self.difference.b.to_dict(),
            "events": [_event(change) for change in self.changes] + [_missing(pair) for pair in self.missing],
            "functions": {one.name: [pair.to_dict() for pair in self.grown_functions(one.name)] for one in self.grown},
        }


def verdict(change: Change) -> str:
    """Return what came out for an event: grew, shrank, within (the tolerance), or same."""
    if change.grew:
        return "grew"
    if change.shrank:
        return "shrank"
    return "same" if change.before == change.now else "within"


def _event(change: Change) -> dict[str, Any]:
    pair = Pair(change.name, change.before, change.now)
    return {
        "name": change.name,
        "base": change.before,
        "new": change.now,
        "difference": pair.difference,
        "change": None if pair.change is None else 100 * pair.change,
        "tolerance": float(100 * change.tolerance),
        "verdict": verdict(change),
    }


def _missing(pair: Pair) -> dict[str, Any]:
    empty = dict.fromkeys(("difference", "change", "tolerance"))
    return {"name": pair.name, "base": pair.a, "new": pair.b, **empty, "verdict": NOT_COMPARED}
