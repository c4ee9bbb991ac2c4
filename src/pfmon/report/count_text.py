"""Counts and times as text, as pfmon prints them: one line an event, the count right-aligned in 26 columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pfmon.session.run.programmed_pmu import Count, Value
from pfmon.session.run.run_outcome import Times

WIDTH = 26

NUMBERS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "us": lambda value: f"{value:,}",
    "eu": lambda value: f"{value:,}".replace(",", "."),
    "hex": lambda value: f"{value:#018x}",
}
"""Formats of a count: 1234567, 1,234,567, 1.234.567, 0x000000000012d687."""


UNDEFINED = "n/a"
"""The value of a formula that divides by zero."""


def count_lines(counts: Sequence[Count], style: str = "plain") -> str:
    """Return a line for each event, in the order of the request."""
    return "".join(f"{value_text(count.value, style):>{WIDTH}} {count.name}\n" for count in counts)


def cpi_line(cycles: int | float | None, instructions: int | float | None, style: str = "plain") -> str:
    """Return the line of cycles per instruction, printed below the two counts."""
    ratio = cycles / instructions if cycles is not None and instructions else None
    return f"{value_text(ratio, style):>{WIDTH}} CPI (cycles per instruction)\n"


def value_text(value: int | float | None, style: str = "plain") -> str:
    """Format a count in a style; the value of a formula with six significant digits."""
    if value is None:
        return UNDEFINED
    if isinstance(value, int):
        return NUMBERS[style](value)
    text = f"{value:.6g}"
    return text.replace(".", ",") if style == "eu" else text


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


def times_line(times: Times) -> str:
    """Return ``real 0h00m00.252s user 0h00m00.248s sys 0h00m00.004s``: the host's time, not the program's."""
    return f"real {_clock(times.real)} user {_clock(times.user)} sys {_clock(times.system)}\n"


def _clock(seconds: float) -> str:
    milliseconds = round(max(0.0, seconds) * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m{rest // 1000:02d}.{rest % 1000:03d}s"
