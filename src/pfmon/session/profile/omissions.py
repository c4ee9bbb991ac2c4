"""Parts of a program that a machine's model omits: reports name those of more than a few percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

LEAST_SHARE = 0.02
"""Shares below are not mentioned."""


class Omission(NamedTuple):
    """``share``: a fraction, 0 to 1; ``text``: of what, and what is left out of it: "of the instructions have no row in
    the table of instructions"."""

    text: str
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return text and share."""
        return self._asdict()


def omissions_of(machine: object) -> list[Omission]:
    """Return what a machine tells by `omissions()`, pairs of text and share; a machine without it leaves nothing out
    that depends on the program."""
    tell = getattr(machine, "omissions", None)
    return [Omission(text, share) for text, share in tell()] if tell else []


def together(found: Sequence[tuple[int, Sequence[Omission]]]) -> list[Omission]:
    """Return the omissions of several programs together, each with its number of instructions, which weighs them."""
    whole = sum(instructions for instructions, _ in found) or 1
    texts = dict.fromkeys(one.text for _, some in found for one in some)
    return [
        Omission(text, sum(count * one.share for count, some in found for one in some if one.text == text) / whole)
        for text in texts
    ]


def mentioned(omissions: Sequence[Omission]) -> list[Omission]:
    """Return those that are worth a mention, the largest first."""
    return sorted((one for one in omissions if one.share >= LEAST_SHARE), key=lambda one: -one.share)


def omissions_line(omissions: Sequence[Omission]) -> str:
    """Return a line about what is worth a mention; "" for nothing."""
    some = [f"{one.share:.1%} {one.text}" for one in mentioned(omissions)]
    return f"not modelled: {'; '.join(some)}\n" if some else ""
