"""Ratios of counts, as perf stat(1) prints them (words: tools/perf/util/stat-shadow.c)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pfmon.session.run.programmed_pmu import Count

SHARES = {
    "branch-misses": ("branches", "of all branches"),
    "cache-misses": ("cache-references", "of all cache refs"),
    "L1-dcache-load-misses": ("L1-dcache-loads", "of all L1-dcache accesses"),
    "dTLB-load-misses": ("dTLB-loads", "of all dTLB cache accesses"),
    "iTLB-load-misses": ("iTLB-loads", "of all iTLB cache accesses"),
}
"""Event -> the event that it is a share of, and what the share is called."""
RATES = ("cache-misses", "dTLB-load-misses", "iTLB-load-misses", "L1-dcache-load-misses")
"""Events that are given per 1000 instructions where what they are a share of is not counted."""
CYCLES, INSTRUCTIONS = ("cycles", "cpu-cycles"), "instructions"


class CountRatio(NamedTuple):
    """A count beside another one. ``unit``: with a leading % for percent."""

    value: float
    unit: str

    def __str__(self) -> str:
        percent = self.unit.startswith("%")
        return f"{self.value:8.2f}{'' if percent else ' '}{self.unit}"


def count_ratios(counts: Sequence[Count], usual: bool = False, megahertz: int = 0) -> list[CountRatio | None]:
    """Return a ratio for each count, None where there is none. ``usual``: the first two are cycles and instructions,
    however the PMU calls them; ``megahertz``: of the machine, 0 if none runs."""
    known = {count.name: count.value for count in counts}
    if usual and len(counts) > 1:
        known |= {CYCLES[0]: counts[0].value, INSTRUCTIONS: counts[1].value}
    names = [count.name for count in counts]
    if usual:
        names[:2] = [CYCLES[0], INSTRUCTIONS][: len(names)] if len(names) > 1 else names
    return [_ratio(name, known, megahertz) for name in names]


def _time(microseconds: float, megahertz: int) -> CountRatio:
    clock = f"at {megahertz / 1000:.2f} GHz"
    if microseconds < 1000:
        return CountRatio(microseconds, f"us {clock}")
    return CountRatio(microseconds / 1000, f"ms {clock}")


def _ratio(name: str, known: dict[str, int | float | None], megahertz: int) -> CountRatio | None:
    value = known[name]
    if value is None:
        return None
    if name in CYCLES:
        return _time(value / megahertz, megahertz) if megahertz else None
    if name == INSTRUCTIONS:
        cycles = next((known[one] for one in CYCLES if known.get(one)), None)
        return CountRatio(value / cycles, "insn per cycle") if cycles else None
    of, words = SHARES.get(name, ("", ""))
    if whole := known.get(of):
        return CountRatio(100 * value / whole, f"% {words}")
    if name in RATES and of not in known and (instructions := known.get(INSTRUCTIONS)):
        return CountRatio(1000 * value / instructions, "per 1000 instructions")
    return None
