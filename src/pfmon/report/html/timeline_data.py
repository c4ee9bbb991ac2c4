"""Timelines of blocks as data of a page."""

from __future__ import annotations

from typing import Any

from pfmon.report.timeline_picture import picture
from pfmon.report.timeline_text import executions_text, first_iteration, place_text, waits_text
from pfmon.session.profile.timeline import BlockTimeline


def timeline_data(timeline: BlockTimeline) -> dict[str, Any]:
    """Return where a block is and what bounds it, the work of its ports, and the picture; times in cycles of an
    iteration."""
    drawn = picture(timeline)
    return {
        "place": place_text(timeline),
        "executions": executions_text(timeline),
        "cycles": timeline.cycles,
        "iterations": [ticks / timeline.cycle for ticks in timeline.iterations],
        "all_cycles": timeline.ticks // timeline.cycle,
        "bottleneck": timeline.bottleneck,
        "bounds": [[name, cycles] for name, cycles in timeline.bounds.items()],
        "causes": [[cause, timeline.of_iteration(ticks)] for cause, ticks in timeline.causes.items()],
        "ports": _ports(timeline),
        "ruler": drawn.ruler,
        "rows": [
            [one.iteration, f"{one.address:x}", one.text, cells, waits_text(one, timeline.cycle)]
            for one, cells in zip(timeline.instructions, drawn.rows, strict=True)
        ],
        "legend": [list(one) for one in drawn.legend],
        "cut": drawn.cut,
    }


def _ports(timeline: BlockTimeline) -> dict[str, Any] | None:
    """Return names of ports, cycles of their work in an iteration, and rows of the first one: text, µops, work; None:
    not known."""
    ports = timeline.ports
    if not ports:
        return None
    rows = [
        [one.text, one.slots, *(one.ports.get(name, 0) / timeline.cycle for name in ports)]
        for one in first_iteration(timeline)
    ]
    return {"names": list(ports), "work": [timeline.of_iteration(ticks) for ticks in ports.values()], "rows": rows}
