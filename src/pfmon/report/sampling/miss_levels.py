"""The level that served a captured miss: derived from its latency, or recorded in the register for TLB misses."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.capture.captures import DataEar, InstructionCapture, InstructionEar
from pfmon.pmu.capture.data_capture import DataCapture
from pfmon.pmu.capture.precise_loads import PreciseLoads

L2 = {"data": ("l2.latency", "l2d.latency"), "instruction": ("l2.fetch_latency", "l2i.latency", "l2.latency")}
L3 = {"data": ("l3.latency",), "instruction": ("l3.fetch_latency", "l3.latency")}
MEMORY = "memory.latency"
"""The machine figures with the minimum latency of each level; the first that a machine has. Where fetches have no
latency of their own (IA-32 code), it is that of data."""


class CacheLevels:
    """A miss with a latency below the minimum of L3 was served by L2, one below the minimum of memory by L3. A miss
    that waited for an outstanding fill counts as the level that fits its latency."""

    names = ("L2", "L3", "RAM")
    costs: Mapping[str, int]
    """The least latency of each level."""

    def __init__(self, figures: MachineFigures, side: str) -> None:
        """``side``: data, or instruction."""
        self._access = "load" if side == "data" else "fetch"
        self._l2, self._l3 = (next(int(figures[name]) for name in names[side] if name in figures) for names in (L2, L3))
        self._memory = int(figures[MEMORY])
        self.costs = dict(zip(self.names, (self._l2, self._l3, self._memory), strict=True))
        self.megahertz = int(figures["machine.frequency"])

    def level(self, capture: DataCapture | InstructionCapture) -> str:
        """Return the name of the level."""
        latency = capture.latency or 0
        return "L2" if latency < self._l3 else "L3" if latency < self._memory else "RAM"

    def header(self, by_level: bool) -> list[str]:
        """Return the lines on the latencies and, unless the view is by level, on the columns."""
        lines = [
            f"# L2   : {self._l2:2} cycles {self._access} latency",
            f"# L3   : {self._l3:2} cycles {self._access} latency",
        ]
        if by_level:
            return lines
        return [
            *lines,
            "# %L2  : percentage of L1 misses that hit L2",
            "# %L3  : percentage of L1 misses that hit L3",
            "# %RAM : percentage of L1 misses that hit memory",
        ]


TLB_COLUMNS = {"L2DTLB": "L2", "L2TLB": "L2"}
"""Short names for columns."""
TLB_MEANINGS = {
    "L2": "hit the L2 TLB",
    "VHPT": "the VHPT walker served",
    "FAULT": "software served",
    "SW": "software served",
}


TLB_COSTS = {"L2": 5, "VHPT": 30, "FAULT": 200, "SW": 200}
"""Cycles, roughly: those of the second-level TLB, of the walker, and of an exception's handler."""


class TlbLevels:
    """Levels recorded in the register, named as in the PMU's events."""

    def __init__(self, ear: DataEar | InstructionEar) -> None:
        self.names = tuple(TLB_COLUMNS.get(level, level) for level in ear.levels if level)
        self.costs: Mapping[str, int] = {name: TLB_COSTS[name] for name in self.names}

    def level(self, capture: DataCapture | InstructionCapture) -> str:
        """Return the name of the level, "" for none."""
        return TLB_COLUMNS.get(capture.level, capture.level)

    def header(self, by_level: bool) -> list[str]:
        """Return the lines on the columns."""
        if by_level:
            return []
        return [f"# %{name:<5}: percentage of L1 TLB misses that {TLB_MEANINGS[name]}" for name in self.names]


class PreciseLevels:
    """Levels that served precise loads, from their samples."""

    def __init__(self, figures: MachineFigures) -> None:
        self.names = PreciseLoads.levels
        least = [int(figures[name]) for name in ("l1d.latency", "l2.latency", "l3.latency", MEMORY)]
        self.costs: Mapping[str, int] = dict(zip(("L1", "L2", "L3", "RAM"), least, strict=True)) | {"LFB": least[0]}
        self.megahertz = int(figures["machine.frequency"])

    def level(self, capture: DataCapture | InstructionCapture) -> str:
        """Return the name of the level."""
        return capture.level

    def header(self, by_level: bool) -> list[str]:
        """Return the lines on the columns."""
        if by_level:
            return []
        return [f"# %{name:<4}: percentage of loads that {PRECISE_MEANINGS[name]} served" for name in self.names]


PRECISE_MEANINGS = {
    "L1": "L1D",
    "LFB": "a line fill buffer, of another miss of the line,",
    "L2": "L2",
    "L3": "L3",
    "RAM": "memory",
}

Levels = CacheLevels | TlbLevels | PreciseLevels
