"""The fields of a 128-bit bundle: template and three 41-bit slots (SDM volume 1, 3.3)."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.isa.ia64.formats import SLOT_BITS
from pfmon.isa.ia64.templates import TEMPLATES, Template

_SLOT_MASK = (1 << SLOT_BITS) - 1


class Slot(NamedTuple):
    """An instruction of a bundle. ``number``: 0 to 2; an X-unit instruction counts as slot 1, its L slot."""

    number: int
    unit: str
    encoding: int
    extension: int
    stop: bool


def slots(bundle: int) -> tuple[Slot, ...] | None:
    """The instructions of a bundle (two for MLX), or None when its template is reserved."""
    template: Template | None = TEMPLATES.get(bundle & 0x1F)
    if template is None:
        return None
    parts = [(bundle >> (5 + SLOT_BITS * number)) & _SLOT_MASK for number in range(3)]
    if template.units == "MLX":
        return (
            Slot(0, "M", parts[0], 0, template.stops[0]),
            Slot(1, "X", parts[2], parts[1], template.stops[2]),
        )
    return tuple(Slot(n, template.units[n], parts[n], 0, template.stops[n]) for n in range(3))
