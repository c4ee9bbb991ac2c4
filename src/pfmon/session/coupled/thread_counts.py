"""The counts of one thread of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pfmon.session.run.programmed_pmu import Count


class ThreadCounts(NamedTuple):
    """``place``: the number of threads that the process had before it; ``totals``: of each monitor."""

    place: int
    retired: int
    counts: Sequence[Count]
    totals: Sequence[int]

    def to_dict(self) -> dict[str, Any]:
        """Return thread (its place), instructions, events (Count.to_dict)."""
        return {
            "thread": self.place,
            "instructions": self.retired,
            "events": [count.to_dict() for count in self.counts],
        }
