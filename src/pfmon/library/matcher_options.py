"""Options named after registers that only some PMUs have."""

from __future__ import annotations

from typing import NamedTuple


class Matcher(NamedTuple):
    """An opcode matcher option: its PMUs, the matcher's number (of two), the width of match and mask."""

    pmus: tuple[str, ...]
    number: int
    bits: int


MATCHERS = {
    "opc-match8": Matcher(("itanium", "itanium2"), 0, 27),
    "opc-match9": Matcher(("itanium", "itanium2"), 1, 27),
    "opc-match32": Matcher(("montecito",), 0, 41),
    "opc-match34": Matcher(("montecito",), 1, 41),
}

BRANCH_PMUS = {"btb": ("itanium", "itanium2"), "etb": ("montecito",)}
"""Prefix of branch buffer options -> the PMUs that have the buffer."""
