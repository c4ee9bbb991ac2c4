"""Input of Increments: filtered architectural signals."""

from __future__ import annotations

from pfmon.light_typing import NamedTuple
from pfmon.pmu.filters import EVERY_BUNDLE, EVERY_OPCODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.pmu.filters import CodeFilter, OpcodeFilter


class InstructionFilter(NamedTuple):
    """Filter of instructions: a code range and an opcode matcher (pmu/filters.py)."""

    code: CodeFilter = EVERY_BUNDLE
    opcode: OpcodeFilter = EVERY_OPCODE


class FilteredSignal(NamedTuple):
    """A filtered architectural signal; ``ranged``: by data ranges."""

    signal: str
    filter: InstructionFilter
    ranged: bool
