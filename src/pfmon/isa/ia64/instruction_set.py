"""The rows of all units. Importing this fills encoding_rows.CALLS; a run with the decoder's tables does not import
it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pfmon.engine.ia64._ia64 import add_rows
from pfmon.isa.ia64.encoding_rows import CALLS, HANDLERS
from pfmon.isa.ia64.instruction import Row, made

if TYPE_CHECKING:
    INSTRUCTIONS: tuple[Row, ...]


add_rows()


@cache
def instruction(number: int) -> Row:
    """The row with a number, made at first use: most users need few."""
    layout, text, given = CALLS[number]
    return made(number, layout, text, HANDLERS[number], **given)


@cache
def _instructions() -> tuple[Row, ...]:
    return tuple(map(instruction, range(len(CALLS))))


def __getattr__(name: str) -> tuple[Row, ...]:
    """INSTRUCTIONS: all rows."""
    if name == "INSTRUCTIONS":
        return _instructions()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
