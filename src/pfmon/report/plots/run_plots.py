"""Pictures of a run: its counts, where its cycles and its slots went, its functions, its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pfmon.report.plots.plot_axes import axes_of, colour, plain, thousands
from pfmon.session.profile.cpi_causes import PARTS
from pfmon.session.profile.cpi_stack import CpiStack
from pfmon.session.profile.top_down import TopDown
from pfmon.session.run.programmed_pmu import Count, Value

MOST_ROWS = 12
"""Functions, or lines, in a picture: those with most."""
LOGARITHMIC = 100
"""Counts of which the largest is so many times the smallest are on a logarithmic scale."""
ROW = 0.32
"""Height of a bar, in inches."""


def counts_plot(counts: Sequence[Count], axes: Any | None = None) -> Any:
    """Draw a bar for each count."""
    named = {count.name: count.value for count in counts if count.value is not None}
    drawn = axes_of(axes, 0.7 + ROW * len(named))
    _bars(drawn, list(named), list(named.values()))
    above = [value for value in named.values() if value > 0]
    if above and max(above) >= LOGARITHMIC * min(above):
        drawn.set_xscale("log")
    drawn.set_xlabel("count")
    return drawn


def cycles_plot(cpi: CpiStack, axes: Any | None = None) -> Any:
    """Draw a bar for each part of the cycle breakdown, in cycles an instruction."""
    drawn = axes_of(axes, 0.9 + ROW * len(cpi.parts))
    instructions = cpi.instructions or 1
    _bars(drawn, list(cpi.parts), [cpi.total(part) / instructions for part in cpi.parts])
    drawn.set_xlabel("cycles an instruction")
    drawn.set_title(f"{cpi.machine}: {cpi.cycles / instructions:.3g} cycles an instruction")
    return drawn


def slots_plot(found: TopDown, axes: Any | None = None) -> Any:
    """Draw a bar for each node of level 1 of the top-down analysis, divided by those of level 2."""
    drawn = axes_of(axes, 1.3 + ROW * len(found.parts))
    place = 0
    for part, inner in found.parts.items():
        left = 0.0
        for name, slots in inner.items():
            share = 100 * (slots or 0) / (found.slots or 1)
            drawn.barh(part, share, left=left, color=colour(place), label=name)
            left += share
            place += 1
        drawn.text(left, part, f" {left:.1f}%", va="center", fontsize="small")
    drawn.invert_yaxis()
    drawn.set_xlabel(f"% of the slots, {found.width} a cycle")
    drawn.legend(fontsize="x-small", ncols=2)
    plain(drawn)
    return drawn


def functions_plot(cpi: CpiStack, axes: Any | None = None) -> Any:
    """Draw a bar for each of the functions with most cycles, divided by the causes."""
    rows = cpi.functions[:MOST_ROWS]
    parts = {part: [row.cycles[place] for row in rows] for place, part in enumerate(PARTS)}
    drawn = _stacked([row.shown for row in rows], parts, axes)
    drawn.set_xlabel("cycles")
    return drawn


def table_plot(names: Sequence[str], values: Sequence[Value], event: str, axes: Any | None = None) -> Any:
    """Draw a bar for each row of a table: the value of one event."""
    drawn = axes_of(axes, 0.7 + ROW * min(len(names), MOST_ROWS))
    _bars(drawn, names[:MOST_ROWS], [value or 0 for value in values[:MOST_ROWS]])
    drawn.set_xlabel(event)
    return drawn


def intervals_plot(ends: Sequence[int], events: Mapping[str, Sequence[Value]], axes: Any | None = None) -> Any:
    """Draw a line for each event over the processor time. ``ends``: nanoseconds."""
    drawn = axes_of(axes, 2.8)
    for place, (name, values) in enumerate(events.items()):
        drawn.plot([end / 1e6 for end in ends], values, color=colour(place), label=name, linewidth=1.4)
    drawn.set_xlabel("processor time, ms")
    drawn.set_ylabel("count in an interval")
    drawn.set_ylim(bottom=0)
    drawn.legend(fontsize="small")
    plain(drawn)
    return drawn


def _bars(drawn: Any, names: Sequence[str], values: Sequence[float]) -> None:
    bars = drawn.barh(range(len(names)), values, color=[colour(place) for place in range(len(names))])
    drawn.set_yticks(range(len(names)), names)
    drawn.invert_yaxis()
    drawn.bar_label(bars, [f" {thousands(value)}" for value in values], fontsize="small")
    drawn.margins(x=0.15)
    plain(drawn)


def _stacked(names: Sequence[str], parts: Mapping[str, Sequence[float]], axes: Any | None) -> Any:
    drawn = axes_of(axes, 1.2 + ROW * len(names))
    left = [0.0] * len(names)
    for place, (part, values) in enumerate(parts.items()):
        drawn.barh(range(len(names)), values, left=left, color=colour(place), label=part)
        left = [one + value for one, value in zip(left, values, strict=True)]
    drawn.set_yticks(range(len(names)), names)
    drawn.invert_yaxis()
    drawn.legend(fontsize="x-small")
    plain(drawn)
    return drawn
