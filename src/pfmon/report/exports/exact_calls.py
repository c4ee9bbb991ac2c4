"""All calls of a run (`ExactCalls`), as exports have them instead of samples: the cycles and instructions of each call
path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pfmon.session.profile.call_rows import RawNode
from pfmon.session.profile.code_profile import NO_SYMBOL, FunctionNames

EVENTS = ("cycles", "instructions")
"""The events of each call path."""
NodeCounts = tuple[int, int]
"""Cycles and instructions."""


class CallPath(NamedTuple):
    """A function as called through others. ``entries``: the first addresses of the function and of its callers, the
    latest first; ``calls``: how often it was called so; ``counts``: of itself, without what it calls."""

    entries: tuple[int, ...]
    calls: int
    counts: NodeCounts


def counts_of(counts: Sequence[int]) -> NodeCounts:
    """Return cycles and instructions of counts by part of the cycles."""
    return sum(counts[:-1]), counts[-1]


def call_paths(nodes: Sequence[RawNode], names: FunctionNames) -> Iterator[CallPath]:
    """Yield the call paths. A callee without a name that calls nothing (a stub of the linker's) counts as part of its
    caller."""
    callers = {node[0] for node in nodes[1:]}
    found: list[tuple[tuple[int, ...], int, list[int]]] = []
    place_of: list[int] = []
    for number, (above, entry, file, calls, counts) in enumerate(nodes):
        parent = place_of[above] if number else -1
        own = counts_of(counts)
        if number and number not in callers and names.row(entry, file).name == NO_SYMBOL:
            place_of.append(parent)
            kept = found[parent][2]
            kept[:] = [kept[0] + own[0], kept[1] + own[1]]
            continue
        entries = (entry, *(found[parent][0] if number else ()))
        place_of.append(len(found))
        found.append((entries, calls if number else 1, list(own)))
    for entries, calls, (cycles, instructions) in found:
        yield CallPath(entries, calls, (cycles, instructions))
