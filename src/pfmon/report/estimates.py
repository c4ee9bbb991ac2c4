"""Estimates of event sets that took turns, beside what counting all the time gives."""

from __future__ import annotations

from pfmon.report.counts import UNDEFINED, WIDTH, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.session.counting import Count, Value

ERROR = 10
"""Columns of the error."""


def estimate_lines(counts: Sequence[Count], style: str = "plain") -> str:
    """A heading, and a line for each event: estimate, true value, error, share of the time, name."""
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
    """How far an estimate is off, as a part of the true value; None where this makes no sense."""
    if value is None or true is None or (not true and value):
        return None
    return value / true - 1 if true else 0.0


def _percent(part: float | None, sign: str = "+") -> str:
    return UNDEFINED if part is None else f"{100 * part:{sign}.3f}%"
