"""A calling context tree with names: counts by call path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pfmon.session.profile.code_profile import NO_SYMBOL, FunctionNames

MAX_CALL_ROWS = 6000
"""Maximum number of rows; above it, those with the smallest counts are merged."""
SMALL = "(less)"
"""The name of merged rows."""


class CallRow(NamedTuple):
    """A function called by its ``parent`` (the number of that row, -1: none), the number of calls, and its own
    counts."""

    parent: int
    name: str
    calls: int
    counts: tuple[int, ...]


RawNode = tuple[int, int, int, int, tuple[int, ...]]
"""(parent, entry, file, calls, counts); parents precede their children."""


class ExactCalls(NamedTuple):
    """All calls of a run. ``nodes``: cycles by part, then instructions, of each call path; ``own``: the same of each
    instruction, by its address; ``edges``: how often each branch was taken, by source and target, if that was kept."""

    nodes: Sequence[RawNode]
    own: Mapping[int, Sequence[int]]
    edges: Mapping[tuple[int, int], int] = {}


def call_rows(nodes: Sequence[RawNode], names: FunctionNames) -> list[CallRow]:
    """Return the nodes by name: callees of one parent with the same name share a row. Callees that call nothing, and
    have no name or were never called (stubs, which only jump on), are part of the parent."""
    parents = {parent for parent, _, _, _, _ in nodes[1:]}
    rows: list[CallRow] = []
    row_of: list[int] = []
    known: dict[tuple[int, str], int] = {}
    for number, (above, entry, file, own_calls, counts) in enumerate(nodes):
        parent = row_of[above] if number else -1
        function = names.row(entry, file)
        if number and number not in parents and (function.name == NO_SYMBOL or not own_calls):
            row_of.append(parent)
            _add(rows, parent, 0, counts)
            continue
        place = known.setdefault((parent, str(function)), len(rows))
        if place == len(rows):
            rows.append(CallRow(parent, str(function), own_calls, counts))
        else:
            _add(rows, place, own_calls, counts)
        row_of.append(place)
    return _without_the_least(rows)


def _add(rows: list[CallRow], place: int, calls: int, counts: Sequence[int]) -> None:
    row = rows[place]
    rows[place] = row._replace(
        calls=row.calls + calls, counts=tuple(a + b for a, b in zip(row.counts, counts, strict=True))
    )


def _without_the_least(rows: list[CallRow]) -> list[CallRow]:
    """Reduce to about MAX_CALL_ROWS rows: siblings with the fewest cycles are merged."""
    if len(rows) <= MAX_CALL_ROWS:
        return rows
    whole = [sum(row.counts[:-1]) for row in rows]
    for number in range(len(rows) - 1, 0, -1):
        whole[rows[number].parent] += whole[number]
    least = sorted(whole, reverse=True)[MAX_CALL_ROWS]
    kept: list[CallRow] = []
    place_of: list[int] = []
    small: dict[int, int] = {}
    for number, row in enumerate(rows):
        parent = place_of[row.parent] if number else -1
        if number == 0 or whole[number] > least:
            place_of.append(len(kept))
            kept.append(row._replace(parent=parent))
        elif parent in small.values():  # below a row that is merged already
            _add(kept, parent, row.calls, row.counts)
            place_of.append(parent)
        else:
            place = small.setdefault(parent, len(kept))
            if place == len(kept):
                kept.append(CallRow(parent, SMALL, 0, (0,) * len(row.counts)))
            _add(kept, place, row.calls, row.counts)
            place_of.append(place)
    return kept
