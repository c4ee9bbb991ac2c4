"""Bundles of IA-64: the templates (SDM volume 3, 4.1: the template table), and the fields (SDM volume 1, 3.3)."""

from __future__ import annotations

from typing import NamedTuple

from pfmon.isa.ia64.formats import SLOT_BITS


class Template(NamedTuple):
    """A bundle's 5-bit template: the unit of each slot, and the slots followed by a stop."""

    units: str
    stops: tuple[bool, bool, bool]


def _template(text: str) -> Template:
    """``"MI;I;"``: unit letters, each followed by ``;`` where a stop is."""
    units = text.replace(";", "")
    stops = []
    rest = text
    for unit in units:
        rest = rest.removeprefix(unit)
        stops.append(rest.startswith(";"))
        rest = rest.removeprefix(";")
    return Template(units, (stops[0], stops[1], stops[2]))


# Template numbers that are missing (06, 07, 14, 15, 1A, 1B, 1E, 1F) are reserved. MLX: the X-unit instruction
# takes slots 1 and 2; slot 1 holds the L part.
TEMPLATES: dict[int, Template] = {
    number: _template(text)
    for number, text in {
        0x00: "MII", 0x01: "MII;", 0x02: "MI;I", 0x03: "MI;I;", 0x04: "MLX", 0x05: "MLX;",
        0x08: "MMI", 0x09: "MMI;", 0x0A: "M;MI", 0x0B: "M;MI;", 0x0C: "MFI", 0x0D: "MFI;",
        0x0E: "MMF", 0x0F: "MMF;", 0x10: "MIB", 0x11: "MIB;", 0x12: "MBB", 0x13: "MBB;",
        0x16: "BBB", 0x17: "BBB;", 0x18: "MMB", 0x19: "MMB;", 0x1C: "MFB", 0x1D: "MFB;",
    }.items()
}  # fmt: skip


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
