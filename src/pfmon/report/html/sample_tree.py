"""A call tree of samples: the number of samples with each call path, by sampled event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pfmon.session.profile.code_profile import FunctionNames
from pfmon.session.sampling.sampling_period import Sample

ROOT = "all samples"


class SampleTree:
    """Accumulates samples. ``events``: the sampled event's name by event set and PMD."""

    def __init__(self, names: FunctionNames, events: Mapping[tuple[int, int], str]) -> None:
        self._names = names
        self._events = events
        self._columns: dict[str, int] = {}
        self._counts: dict[tuple[tuple[int, ...], int, int], int] = {}
        self._stacks = False

    def take(self, samples: Sequence[Sample]) -> None:
        """Add a buffer of samples."""
        for sample in samples:
            event = self._events.get((sample.set, sample.overflowed[0]), "")
            column = self._columns.setdefault(event, len(self._columns))
            key = sample.calls, sample.iip, column
            self._counts[key] = self._counts.get(key, 0) + 1
            self._stacks |= bool(sample.calls)

    def to_data(self) -> dict[str, Any] | None:
        """Return events, names, rows in the page's tree format (parent, name, calls, counts by event), total, whether
        there are stacks; None: there were no samples."""
        if not self._counts:
            return None
        names: dict[str, int] = {ROOT: 0}
        rows: list[list[int]] = [[-1, 0, 0, *(0 for _ in self._columns)]]
        known: dict[tuple[int, int], int] = {}
        for (calls, iip, column), count in self._counts.items():
            place = 0
            for address in (*reversed(calls), iip):
                name = names.setdefault(str(self._names.function(address)), len(names))
                below = known.setdefault((place, name), len(rows))
                if below == len(rows):
                    rows.append([place, name, 0, *(0 for _ in self._columns)])
                place = below
            rows[place][3 + column] += count
        return {
            "events": list(self._columns),
            "names": list(names),
            "rows": rows,
            "total": sum(self._counts.values()),
            "stacks": self._stacks,
        }
