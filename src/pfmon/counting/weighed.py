"""What Increments compiles: signals of architecture behind filters."""

from __future__ import annotations

from pfmon.light_typing import NamedTuple
from pfmon.pmu.filters import EVERY_BUNDLE, EVERY_OPCODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.pmu.filters import CodeFilter, OpcodeFilter


class Filter(NamedTuple):
    """What lets an instruction be counted: a code range and an opcode matcher (pmu/filters.py)."""

    code: CodeFilter = EVERY_BUNDLE
    opcode: OpcodeFilter = EVERY_OPCODE


class Weighed(NamedTuple):
    """What Increments compiles: a signal of architecture behind a filter; ``ranged``: by data ranges."""

    signal: str
    filter: Filter
    ranged: bool
