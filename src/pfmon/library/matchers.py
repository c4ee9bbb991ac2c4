"""Options that name registers which only some PMUs have."""

from __future__ import annotations

from pfmon.light_typing import NamedTuple


class Matcher(NamedTuple):
    """One option: the PMUs that have it, which of their two matchers it is, the width of match and mask."""

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
"""Beginning of the options of branch buffers -> PMUs that have one."""
