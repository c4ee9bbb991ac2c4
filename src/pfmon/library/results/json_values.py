"""Values of a JSON file that somebody else may have written: each is of the kind that is wanted, or a ValueError."""

from __future__ import annotations

import math
from typing import Any

MAX_COUNT = 1 << 128
"""More than any counter holds, and little enough for ratios."""


def an_object(value: object) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def a_list(value: object) -> list[Any]:
    """A JSON array."""
    if not isinstance(value, list):
        raise ValueError("no list")
    return value


def a_text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def a_shown_text(value: object) -> str:
    """A text that can be printed: what is no character in it is as Python writes it, with a backslash."""
    return a_text(value).encode("utf-8", "backslashreplace").decode("utf-8")


def a_number(value: object) -> int:
    """A count of something, as a counter could hold it."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_COUNT:
        raise ValueError("no number")
    return value


def a_count(value: object) -> int | float | None:
    """The value of an event or a formula."""
    if not is_count(value):
        raise ValueError("no count")
    assert value is None or isinstance(value, int | float)
    return value


def is_count(value: object) -> bool:
    """Whether a value can be one of a count or a formula."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT)
