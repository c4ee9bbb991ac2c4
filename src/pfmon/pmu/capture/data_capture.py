"""The capture of a load, or of another access, with its address."""

from __future__ import annotations

from typing import NamedTuple


class DataCapture(NamedTuple):
    """The capture in a data EAR, or a precise load. ``address``: of the data (None in ALAT mode); ``instruction``:
    bundle | slot (None for an access of the RSE); ``latency``: in cycles (None except for cache misses), a minimum if
    ``overflow``; ``level``: the level that served a TLB miss, or a precise load, else ""."""

    valid: bool
    address: int | None
    instruction: int | None
    latency: int | None
    overflow: bool
    level: str


DataCaptured = tuple[int | None, bool, int, int, int]
"""Address | slot of the instruction (None: no instruction), whether it was in the second bundle of its window, address
of the data, latency in cycles, level that served a TLB miss (0: not in TLB mode), or source of a precise load."""
