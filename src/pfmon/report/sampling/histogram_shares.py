"""Rows of histograms: the largest counts first, with their shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple


class Share(NamedTuple):
    """One row: key, count, share of all counts in percent, and cumulative share."""

    key: Any
    times: int
    own: float
    cumulative: float

    def __str__(self) -> str:
        return f"{self.times:8} {self.own:6.2f}% {self.cumulative:6.2f}%"


COLUMNS = "#count   %self    %cum"


def shares(
    counts: Mapping[Any, int], top: int = 0, up_to: int = 0, order: Callable[[Any], Any] | None = None
) -> Iterator[Share]:
    """The rows of a histogram, ``top`` of them (0: all), up to the one with which ``up_to`` percent of all are shown
    (0: all), in an ``order`` of the keys: without one the largest first, what was counted equally often in the order of
    the keys."""
    total, seen = sum(counts.values()) or 1, 0
    for key in sorted(counts, key=order or (lambda key: (-counts[key], key)))[: top or None]:
        seen += counts[key]
        yield Share(key, counts[key], 100 * counts[key] / total, 100 * seen / total)
        if up_to and 100 * seen >= up_to * total:
            return


def distance(rows: Counter[Any], truth: Counter[Any]) -> float:
    """Return the distance of two distributions: half the sum of the differences of their shares (total variation)."""
    total, exact = rows.total() or 1, truth.total() or 1
    return sum(abs(rows[place] / total - truth[place] / exact) for place in {*rows, *truth}) / 2
