"""Counts as text, as pfmon prints them: one line an event, the count right-aligned in 26 columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pfmon.session.run.programmed_pmu import Count

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


def value_text(value: int | float | None, style: str) -> str:
    """Format a count in a style; the value of a formula with six significant digits."""
    if value is None:
        return UNDEFINED
    if isinstance(value, int):
        return NUMBERS[style](value)
    text = f"{value:.6g}"
    return text.replace(".", ",") if style == "eu" else text
