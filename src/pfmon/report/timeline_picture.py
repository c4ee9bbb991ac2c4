"""The picture of a timeline: a row for each instruction, a column for each cycle, but for cycles in which nothing
changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pfmon.session.profile.timeline import BlockTimeline, TimedInstruction

LONGEST_GAP, GAP = 8, 2
"""Cycles without a mark that are drawn, and columns in place of more."""
LABEL = 10
"""Cycles from one label of the ruler to the next."""

DELIVERED, DISPATCHED, STARTED, EXECUTED, RETIRED, ISSUED, SKIPPED = "Q", "I", "D", "E", "R", "I", "i"
QUEUED, WAITING, LOADING, EXECUTING, DONE, STALLED, NOTHING, CUT = ".", "=", "m", "e", "-", "=", " ", "~"

OUT_OF_ORDER_LEGEND = (
    ("Q", "delivered by the front end"),
    (".", "in the queue"),
    ("I", "issued into the window"),
    ("=", "waits for operands"),
    ("D", "dispatched to its ports"),
    ("m", "waits for its load"),
    ("e", "executes"),
    ("E", "executed"),
    ("-", "waits for those before it"),
    ("R", "retired"),
)
IN_ORDER_LEGEND = (
    ("=", "stalls"),
    ("I", "issues"),
    ("i", "issues, its predicate false"),
    ("-", "stalls behind its issue"),
)
"""The legend of a picture: each letter with its meaning. Of several letters in one cycle the last one is shown."""


class Picture(NamedTuple):
    """``ruler``: cycles above the columns; ``rows``: cells of each instruction; ``legend``: letters and what they mean;
    ``cut``: cycles in which nothing changes are left out, two columns of ~ in the ruler."""

    ruler: str
    rows: Sequence[str]
    legend: Sequence[tuple[str, str]]
    cut: bool


def picture(timeline: BlockTimeline) -> Picture:
    """Return the picture of a timeline."""
    in_order = all(one.dispatched is None for one in timeline.instructions)
    drawn = [_in_order(one) if in_order else _out_of_order(one, timeline.cycle) for one in timeline.instructions]
    columns = _columns({cycle for marks, _ in drawn for cycle in marks})
    rows = [_row(marks, fills, columns) for marks, fills in drawn]
    legend = IN_ORDER_LEGEND if in_order else OUT_OF_ORDER_LEGEND
    used = set("".join(rows))
    return Picture(_ruler(columns), rows, [one for one in legend if one[0] in used], None in columns)


Drawn = tuple[dict[int, str], list[tuple[int, int, str]]]
"""Marks by cycle, and fills: first cycle, the one behind, character."""


def _out_of_order(one: TimedInstruction, cycle: int) -> Drawn:
    assert one.dispatched is not None and one.data is not None and one.executed is not None
    times = [one.dispatched, one.started, one.data, one.executed, one.retired]
    at, started, data, executed, retired = (max(0, ticks // cycle) for ticks in times)
    marks, fills = {}, [(at, started, WAITING), (started, data, LOADING), (data, executed, EXECUTING)]
    fills.append((executed, retired, DONE))
    if one.delivered is not None:
        queued = max(0, one.delivered // cycle)
        fills.insert(0, (queued, at, QUEUED))
        if one.delivered >= 0:
            marks[queued] = DELIVERED
    for when, letter in ((at, DISPATCHED), (started, STARTED), (executed, EXECUTED), (retired, RETIRED)):
        marks[when] = letter
    return marks, fills


def _in_order(one: TimedInstruction) -> Drawn:
    """A stall is drawn before the issue of its instruction, or behind it."""
    before = sum(wait.ticks for wait in one.waits if not wait.behind and wait.stalls)
    behind = sum(wait.ticks for wait in one.waits if wait.behind)
    if one.started < 0:
        return {}, []
    fills = [(one.started - before, one.started, STALLED), (one.started + 1, one.started + 1 + behind, DONE)]
    marks = {one.started: ISSUED if one.held else SKIPPED}
    return marks, [fill for fill in fills if fill[0] < fill[1]]


def _columns(marked: set[int]) -> list[int | None]:
    """Return the cycle of each column; None: of cycles that are left out."""
    columns: list[int | None] = []
    before = -1
    for cycle in sorted(marked):
        if cycle - before - 1 > LONGEST_GAP:
            columns += [None] * GAP
        else:
            columns += range(before + 1, cycle)
        columns.append(cycle)
        before = cycle
    return columns


def _row(marks: dict[int, str], fills: Sequence[tuple[int, int, str]], columns: Sequence[int | None]) -> str:
    cells = []
    before = -1
    for cycle in columns:
        where = before + 1 if cycle is None else cycle
        before = before if cycle is None else cycle
        filled = [fill for first, beyond, fill in fills if first <= where < beyond] or [NOTHING]
        cells.append(filled[-1] if cycle is None else marks.get(where, filled[-1]))
    return "".join(cells).rstrip()


def _ruler(columns: Sequence[int | None]) -> str:
    """Return the numbers of cycles above the columns, where they fit."""
    cells = [CUT if cycle is None else NOTHING for cycle in columns]
    free, after_cut = 0, True
    for place, cycle in enumerate(columns):
        wanted = cycle is not None and (cycle % LABEL == 0 or after_cut)
        after_cut = cycle is None
        label = str(cycle)
        if wanted and place >= free and CUT not in cells[place : place + len(label)]:
            cells[place : place + len(label)] = label
            free = place + len(label) + 1
    return "".join(cells)
