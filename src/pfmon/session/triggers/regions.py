"""Regions: parts of a program that it marks itself (docs/regions.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pfmon.counting._counting import Gate, OpenRegions
from pfmon.errors import LostError
from pfmon.session.run.controls import Controls
from pfmon.session.run.programmed_pmu import Count

REGION_SETS = 64
"""Maximum number of ways in which the regions of a run nest that are counted separately (gate.pxd)."""
OF_OPTION = "--region: "
"""The beginning of notes on regions that were never entered: of several tasks, one that enters them is enough."""
OUTSIDE = ""
"""Instead of a region's name: outside of all."""


class RegionCounts(NamedTuple):
    """The counts of one region, those that nest in it included. ``name``: OUTSIDE for what is in none; ``entered``: how
    often a thread came into it from outside of it."""

    name: str
    entered: int
    retired: int
    counts: Sequence[Count]

    def to_dict(self) -> dict[str, Any]:
        """Return region (null outside of all), entered, instructions, events (Count.to_dict)."""
        return {
            "region": self.name or None,
            "entered": self.entered,
            "instructions": self.retired,
            "events": [count.to_dict() for count in self.counts],
        }


class SeenRegion(NamedTuple):
    """A region that options or the program's marks have named. ``counted``: it is among those that count; ``stray``:
    stops by threads that were not in it; ``open``: threads that are in it."""

    name: str
    counted: bool
    entered: int
    stray: int
    open: int


def open_regions(controls: Controls) -> OpenRegions | None:
    """Return what follows the marks of regions; None: they change nothing."""
    return OpenRegions([name.encode() for name in controls.regions]) if controls.of_regions else None


def seen_regions(regions: OpenRegions) -> list[SeenRegion]:
    """Return the regions of a run, by number."""
    return [SeenRegion(_shown(one[0]), *one[1:]) for one in regions.seen()]


def check_region_sets(gate: Gate | None) -> None:
    """Raise LostError if there were more ways in which the regions nest than could be counted apart."""
    if gate and gate.lacks_readers:
        raise LostError(
            f"--per-region: the regions nest in more than {REGION_SETS - 1} ways, which cannot be counted apart: "
            "name fewer with --region"
        )


def region_counts(
    gate: Gate, counts_of: Callable[[str, int, Sequence[int]], RegionCounts], named: bool
) -> list[RegionCounts]:
    """Return the counts of each region that counts, then those outside of all unless regions are ``named``.
    ``counts_of``: of a region by its name and entries, and the numbers of the gate's readers that have its
    instructions."""
    assert gate.regions
    sets = gate.sets_of_readers()
    found = [
        counts_of(one.name, one.entered, [place for place, regions in enumerate(sets) if regions >> number & 1])
        for number, one in enumerate(seen_regions(gate.regions))
        if one.counted
    ]
    return found if named else [*found, counts_of(OUTSIDE, 0, [0])]


def region_notes(controls: Controls, regions: OpenRegions | None) -> list[str]:
    """Return a note for each region that was never entered, that stops without a start, or that is open at the end."""
    if regions is None:
        return []
    seen = seen_regions(regions)
    unseen = [one.name for one in seen if one.counted and not one.entered]
    others = [one.name for one in seen if not one.counted]
    notes = [f"{OF_OPTION}the program never entered {name}" for name in unseen]
    if unseen and others:
        notes.append(f"{OF_OPTION}the program marks {_listed(others)}")
    if not seen:
        notes.append("--per-region: the program marked no region")
    for one in seen:
        if one.counted and one.stray:
            stops = "a stop" if one.stray == 1 else f"{one.stray} stops"
            notes.append(f"region {one.name}: {stops} without a start ignored")
        if one.counted and one.open:
            threads = "" if one.open == 1 else f" in {one.open} threads"
            notes.append(f"region {one.name}: still open{threads} at the end, where counting ended")
    invalid, beyond = regions.ignored
    if invalid:
        notes.append(f"{_marks(invalid)} of regions without a valid name (1 to 64 bytes, no commas) ignored")
    if beyond:
        notes.append(f"the program names more than {len(seen)} regions: {_marks(beyond)} of others ignored")
    return notes


def _marks(number: int) -> str:
    return "a mark" if number == 1 else f"{number} marks"


def _listed(names: Sequence[str]) -> str:
    most = 5
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _shown(name: bytes) -> str:
    """Return the name of a region; what cannot be printed, as escapes."""
    text = name.decode(errors="backslashreplace")
    return text if text.isprintable() else ascii(text)[1:-1]
