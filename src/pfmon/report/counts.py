"""Counts as text, as pfmon prints them: one line an event, the count right-aligned in 26 columns."""

from collections.abc import Callable, Sequence

from pfmon.session.counting import Count

WIDTH = 26

NUMBERS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "us": lambda value: f"{value:,}",
    "eu": lambda value: f"{value:,}".replace(",", "."),
    "hex": lambda value: f"{value:#018x}",
}
"""How a count is written: 1234567, 1,234,567, 1.234.567, 0x000000000012d687."""


def count_lines(counts: Sequence[Count], style: str = "plain") -> str:
    """A line for each event, in the order of the request."""
    number = NUMBERS[style]
    return "".join(f"{number(count.value):>{WIDTH}} {count.name}\n" for count in counts)
