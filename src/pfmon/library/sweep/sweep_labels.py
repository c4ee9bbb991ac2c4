"""The dimensions of a sweep: the arguments and figures whose values differ between cells, and labels that name them."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.library.sweep.sweep_plan import Cell, shown_value
from pfmon.machine.config.machine_figures import Value


def varied_names(cells: Sequence[Cell]) -> list[str]:
    """Return the arguments and figures that have several values. One that follows from a single earlier one, as
    l3.ways does where it changes together with l3.size, is left out."""
    found: list[str] = []
    for name in dict.fromkeys(name for cell in cells for name, _ in cell.figures):
        known = [dict(cell.figures) for cell in cells]
        if len({own[name] for own in known if name in own}) > 1 and not any(_follows(known, name, of) for of in found):
            found.append(name)
    return found


def _follows(known: Sequence[dict[str, Value]], name: str, of: str) -> bool:
    """Whether one value belongs to each value of another name, and is there where that is."""
    values: dict[Value | None, Value | None] = {}
    return all(values.setdefault(own.get(of), own.get(name)) == own.get(name) for own in known)


def labels(cells: Sequence[Cell]) -> list[str]:
    """Return a label for each cell, of what differs between cells alone: program, machine, varied names with values."""
    several = {place for place in ("program", "machine") if len({getattr(cell, place) for cell in cells}) > 1}
    varied = varied_names(cells)
    return [", ".join(_parts(cell, several, varied)) or cell.program for cell in cells]


def _parts(cell: Cell, several: set[str], varied: Sequence[str]) -> list[str]:
    own = dict(cell.figures)
    places = [getattr(cell, place) for place in ("program", "machine") if place in several]
    return places + [f"{name}={shown_value(cell.content, name, own[name])}" for name in varied if name in own]
