"""The list of modules that hold instructions. Importing this fills rows.CALLS, in this order."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from pfmon.engine.ia64.encodings.rows import CALLS, HANDLERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.engine.ia64.encodings.instruction import Row

    INSTRUCTIONS: tuple[Row, ...]

MODULES = (
    "a",
    "a_compare",
    "a_parallel",
    "i",
    "i_move",
    "i_parallel",
    "x",
    "b",
    "m_load",
    "m_store",
    "m_float",
    "m_pair",
    "m_system",
    "f_multiply_add",
    "f_integer",
    "f_compare",
    "f_approximate",
    "f_convert",
    "f_parallel",
    "f_status",
)

for _name in MODULES:
    import_module(f"pfmon.engine.ia64.units.{_name}")


@cache
def instruction(number: int) -> Row:
    """The row with a number, made when it is first asked for: a run needs few or none."""
    from pfmon.engine.ia64.encodings.instruction import made

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
