"""Input of Increments: filtered architectural signals."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.pmu.qualify.filters import EVERY_BUNDLE, EVERY_OPCODE, CodeFilter, OpcodeFilter


class InstructionFilter(NamedTuple):
    """Filter of instructions: a code range and an opcode matcher (pmu/qualify/filters.py)."""

    code: CodeFilter = EVERY_BUNDLE
    opcode: OpcodeFilter = EVERY_OPCODE


class FilteredSignal(NamedTuple):
    """A filtered architectural signal; ``ranged``: by data ranges."""

    signal: str
    filter: InstructionFilter
    ranged: bool
