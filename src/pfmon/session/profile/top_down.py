"""Top-down analysis of a run on an out-of-order machine: what the slots of dispatch went to, by node.

The nodes are those of Yasin, A Top-Down Method for Performance Analysis and Counters Architecture, ISPASS 2014.
Micro-operations that retire, slots in which dispatch waits for the front end, and those behind mispredicted branches
are counted (miss_events.pyx, IssueSlots). The other slots are the back end's, shared between memory and core as the
cycles of their causes are (cpi_causes.csv, column slots). Without a table of instructions a slot is an instruction's,
and all others are those of the causes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.targets import named
from pfmon.session.profile.cpi_causes import COMPONENTS

NODES = {
    "retiring": ("light operations", "heavy operations"),
    "bad speculation": ("branch mispredicts", "machine clears"),
    "frontend bound": ("fetch latency", "fetch bandwidth"),
    "backend bound": ("memory bound", "core bound"),
}
"""Nodes of level 1 -> those of level 2 that they consist of."""


class IssueSlots(NamedTuple):
    """What an out-of-order core counts, in slots: micro-operations that retire, those of instructions that have
    several, slots of waiting for the front end, those of whole cycles of that, and slots behind mispredicted branches
    (`IntervalMachine.issue_slots`)."""

    retired: int
    heavy: int
    undelivered: int
    latency: int
    mispredicted: int


class TopDown(NamedTuple):
    """``width``: slots of a cycle; ``slots``: all; ``measured``: the processor's PMU has the method; ``parts``: slots
    by node of level 1 and level 2. None: the model does not have the node, or cannot tell it from its sibling."""

    width: int
    slots: int
    measured: bool
    parts: Mapping[str, Mapping[str, int | None]]

    def total(self, part: str) -> int:
        """Return the slots of a node of level 1."""
        return sum(own or 0 for own in self.parts[part].values())

    def to_dict(self) -> dict[str, Any]:
        """Return width, slots, measured, parts: by node of level 1 its slots, and those of level 2."""
        parts = {part: {"slots": self.total(part), "of": dict(of)} for part, of in self.parts.items()}
        return {"width": self.width, "slots": self.slots, "measured": self.measured, "parts": parts}


def top_down(
    figures: MachineFigures, cycles: Mapping[str, int], instructions: int, counted: IssueSlots | None
) -> TopDown:
    """Return the analysis of a run. ``cycles``: by component of the cycle breakdown; ``counted``: None without a table
    of instructions."""
    width = int(figures["core.width"])
    slots = width * sum(cycles.values())
    stalls = _stalls(cycles)
    if counted is None:
        counted = IssueSlots(
            instructions,
            0,
            width * (stalls["fetch latency"] + stalls["fetch bandwidth"]),
            width * stalls["fetch latency"],
            width * stalls["branch mispredicts"],
        )
        heavy = None
    else:
        heavy = counted.heavy
    left = slots - counted.retired  # but for slots of the last cycle, which may not be over
    frontend = min(counted.undelivered, left)
    mispredicted = min(counted.mispredicted, left - frontend)
    backend = left - frontend - mispredicted
    latency = min(counted.latency, frontend)
    of_back_end = stalls["memory bound"] + stalls["core bound"]
    memory = backend * stalls["memory bound"] // of_back_end if of_back_end else 0
    values = (
        (counted.retired - (heavy or 0), heavy),
        (mispredicted, None),
        (latency, frontend - latency),
        (memory, backend - memory),
    )
    parts = {part: dict(zip(of, value, strict=True)) for (part, of), value in zip(NODES.items(), values, strict=True)}
    return TopDown(width, slots, named(str(figures["machine.pmu"])).top_down, parts)


def together(found: Sequence[TopDown]) -> TopDown:
    """Return the analysis of several programs on equal machines together."""
    first = found[0]
    parts = {
        part: {
            name: None if own is None else sum(one.parts[part][name] or 0 for one in found) for name, own in of.items()
        }
        for part, of in first.parts.items()
    }
    return first._replace(slots=sum(one.slots for one in found), parts=parts)


def _stalls(cycles: Mapping[str, int]) -> dict[str, int]:
    """Return the cycles of causes by the node of level 2 that their slots belong to."""
    stalls = {name: 0 for of in NODES.values() for name in of}
    for one in COMPONENTS:
        if one.slots:
            stalls[one.slots] += cycles.get(one.name, 0)
    return stalls
