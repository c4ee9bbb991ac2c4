"""Marks for Python; their kinds are stream_words.Mark."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.stream._stream import Mark

__all__ = ["IDLE", "NO_INSTRUCTION", "NO_MARKS", "UNCOUNTED", "Mark", "MarkSite", "MarkTotals"]


class MarkTotals(NamedTuple):
    """Totals of the marks of one kind."""

    marks: int
    """Number of marks."""
    low: int
    """The sum of bits 0-15 of their values."""
    high: int
    """The sum of bits 16-31 of their values."""
    by_value: tuple[int, int, int, int]
    """Number of marks with the values 0, 1, 2, 3."""


NO_INSTRUCTION = 255
"""Instead of an instruction's number: the mark belongs to none of the block before it."""

IDLE, UNCOUNTED = 1 << 16, 1 << 17
"""Bits of Mark.TASK (stream_words.TaskBits)."""

NO_MARKS = MarkTotals(0, 0, 0, (0, 0, 0, 0))


class MarkSite(NamedTuple):
    """Marks of one kind caused by one instruction."""

    block: int | None
    """Number of the block that retired before the mark; None: no block has yet."""
    instruction: int
    """Number of the instruction in the block, or NO_INSTRUCTION."""
    kind: int
    all: MarkTotals
    inside: MarkTotals
    """Marks whose memory address is in the data ranges (DataRangeTally); of a SPILL or FILL, the registers that are."""
