"""Bundle templates of IA-64 (SDM volume 3, 4.1: the template table)."""

from __future__ import annotations

from typing import NamedTuple


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
