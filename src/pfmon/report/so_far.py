"""A moment of a run that goes on."""

from __future__ import annotations

from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.session.counting import Value
    from pfmon.session.profile import Row


class SoFar(NamedTuple):
    """A moment of a run: seconds since it began, instructions retired, bytes of memory that pfmon has; what was counted
    a moment before, by event, and by function, most first (none: not asked for, or of several event sets)."""

    seconds: float
    instructions: int
    memory: int
    counts: tuple[tuple[str, Value], ...] = ()
    functions: tuple[Row, ...] = ()
