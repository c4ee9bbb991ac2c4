"""Fields of devices and firmware that are kept in a snapshot: numbers, and lists of numbers, each in a range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

Range = tuple[int, int]
"""The least and the most that a number can be."""
WORD: Range = (0, (1 << 64) - 1)
BYTE: Range = (0, 0xFF)
BIT: Range = (0, 1)


class Keeper(Protocol):
    """``KEPT``: the fields that are kept; a list keeps its length."""

    KEPT: ClassVar[Mapping[str, Range]]


def kept(one: Keeper) -> dict[str, int | list[int]]:
    """The values of its fields."""
    found: dict[str, int | list[int]] = {}
    for name in one.KEPT:
        value = getattr(one, name)
        found[name] = [int(part) for part in value] if isinstance(value, list) else int(value)
    return found


def put_back(one: Keeper, values: object) -> None:
    """Set its fields. ValueError: one of them is missing, or out of its range."""
    if not isinstance(values, dict) or set(values) != set(one.KEPT):
        raise ValueError("fields are missing")
    for name, limits in one.KEPT.items():
        before, value = getattr(one, name), values[name]
        if isinstance(before, list):
            if not isinstance(value, list) or len(value) != len(before):
                raise ValueError(f"{name} is no list of {len(before)}")
            setattr(one, name, [_number(part, limits, like) for part, like in zip(value, before, strict=True)])
        else:
            setattr(one, name, _number(value, limits, before))


def _number(value: Any, limits: Range, like: object) -> int:
    """A value in its range, of the type that the field has."""
    if type(value) is not int or not limits[0] <= value <= limits[1]:
        raise ValueError("a number is out of its range")
    return bool(value) if isinstance(like, bool) else value
