"""Estimates of multiplexed event sets beside the true counts."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.report.count_text import UNDEFINED, WIDTH, value_text
from pfmon.session.run.programmed_pmu import Count, Value

ERROR = 10
"""Width of the error column."""


def estimate_lines(counts: Sequence[Count], style: str = "plain") -> str:
    """Return a heading, and a line for each event: estimate, true value, error, share of the time, name."""
    lines = [f"{'estimate':>{WIDTH}} {'true':>{WIDTH}} {'error':>{ERROR}} {'time':>{ERROR}}\n"]
    for count in counts:
        if count.estimate is None:
            continue
        lines.append(
            f"{value_text(count.value, style):>{WIDTH}} {value_text(count.estimate.true, style):>{WIDTH}} "
            f"{_percent(error(count.value, count.estimate.true)):>{ERROR}} "
            f"{_percent(count.estimate.share, sign=''):>{ERROR}} {count.name}\n"
        )
    return "".join(lines)


def error(value: Value, true: Value) -> float | None:
    """Return the error of an estimate as a fraction of the true value; None if undefined."""
    if value is None or true is None or (not true and value):
        return None
    return value / true - 1 if true else 0.0


def _percent(part: float | None, sign: str = "+") -> str:
    return UNDEFINED if part is None else f"{100 * part:{sign}.3f}%"
