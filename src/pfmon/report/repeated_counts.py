"""The counts of several runs of one program: means, and how far the runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from pfmon.session.run.programmed_pmu import Count


def mean_counts(runs: Sequence[Sequence[Count]]) -> list[Count]:
    """Return each event with its mean, rounded as the counts are: to whole numbers, those of formulas not at all."""
    return [one._replace(value=_mean([count.value for count in of])) for one, of in _by_event(runs)]


def spreads(runs: Sequence[Sequence[Count]]) -> list[float]:
    """Return the standard error of each event's mean as a share of it, 0 where all runs have the same count; perf
    stat -r prints the same."""
    return [_spread([count.value for count in of if count.value is not None]) for _, of in _by_event(runs)]


def spread_text(share: float) -> str:
    """Return a spread as perf stat -r prints it."""
    return f"  ( +-{100 * share:6.2f}% )"


def repeats_line(runs: Sequence[Sequence[Count]]) -> str:
    """Return what the runs have in common."""
    differing = [one.name for one, of in _by_event(runs) if len({count.value for count in of}) > 1]
    if not differing:
        return f"{len(runs)} runs: all counts are equal"
    return f"{len(runs)} runs: means; {', '.join(differing)} differ{'s' * (len(differing) == 1)} between them"


def _by_event(runs: Sequence[Sequence[Count]]) -> list[tuple[Count, Sequence[Count]]]:
    return [(of[-1], of) for of in zip(*runs, strict=True)]


def _mean(values: Sequence[int | float | None]) -> int | float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return round(fmean(known)) if all(isinstance(value, int) for value in known) else fmean(known)


def _spread(values: Sequence[int | float]) -> float:
    if len(set(values)) < 2:
        return 0.0
    mean = fmean(values)
    return stdev(values) / len(values) ** 0.5 / mean if mean else 0.0
