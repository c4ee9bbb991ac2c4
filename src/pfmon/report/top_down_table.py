"""The top-down analysis of a run as a table with bars."""

from __future__ import annotations

from pfmon.report.count_text import UNDEFINED, value_text
from pfmon.session.profile.top_down import TopDown

BAR = 40
"""Characters of a bar of 100%."""


def top_down_table(found: TopDown, style: str = "plain") -> str:
    """Return a line for each node of level 1, and below it for those of level 2."""
    whose = "" if found.measured else ", the model's: the processor's PMU does not have it"
    lines = [
        f"{'slots':>20} {'share':>7} top-down{whose}",
        _line(found, style, f"all slots, {found.width} a cycle", found.slots),
    ]
    for part, of in found.parts.items():
        lines.append(_line(found, style, f"{part:<28} {'#' * _length(found, part)}", found.total(part)))
        lines += [_line(found, style, f"  {name}", slots) for name, slots in of.items()]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _line(found: TopDown, style: str, name: str, slots: int | None) -> str:
    if slots is None:
        return f"{UNDEFINED:>20} {UNDEFINED:>7} {name}"
    share = slots / found.slots if found.slots else 0.0
    return f"{value_text(slots, style):>20} {share:>7.1%} {name}"


def _length(found: TopDown, part: str) -> int:
    return round(BAR * found.total(part) / found.slots) if found.slots else 0
