"""The decoder's tables: from the rows of one unit, a tree that tests a few bits at each node.

A node either selects a child by a run of bits, or is a leaf with the remaining rows. In a leaf, a row that is a special
case of another comes before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pfmon.isa.ia64.instruction import Row

WIDEST = 7  # bits that one node tests: 128 children
SMALL_LEAF = 2  # rows that do not justify another node


@dataclass(frozen=True)
class Tree:
    """Flat tables. Node n selects with ``width[n]`` bits from ``shift[n]``: child ``links[first[n] + bits]``;
    width 0 is a leaf: row numbers ``links[first[n]:first[n] + shift[n]]``. Node 0 is the empty leaf."""

    shift: list[int]
    width: list[int]
    first: list[int]
    links: list[int]
    roots: dict[str, int]


def depths(rows: Sequence[Row]) -> dict[int, int]:
    """By row number: the length of the chain of ``over`` declarations below it."""
    by_text: dict[str, list[Row]] = {}
    for row in rows:
        by_text.setdefault(row.text, []).append(row)

    def depth(row: Row) -> int:
        below = [other for text in row.over for other in by_text.get(text, ())]
        return 1 + max(map(depth, below), default=-1)

    return {row.number: depth(row) for row in rows}


def _widest_common_run(rows: Sequence[Row], used: int) -> tuple[int, int]:
    """The longest run of bits that all rows fix and no node above tests: (lowest bit, width)."""
    common = ~used
    for row in rows:
        common &= row.mask
    best = (0, 0)
    bit = 0
    while common >> bit:
        width = 0
        while (common >> (bit + width)) & 1:
            width += 1
        if width > best[1]:
            best = (bit, width)
        bit += width + 1
    low, width = best
    return (low + max(0, width - WIDEST), min(width, WIDEST))


def build(rows: Sequence[Row], units: Iterable[str]) -> Tree:
    """Tables for all ``units`` (letters)."""
    tree = Tree([0], [0], [0], [], {})
    order = depths(rows)

    def node(candidates: Sequence[Row], used: int) -> int:
        if not candidates:
            return 0
        low, width = _widest_common_run(candidates, used)
        number = len(tree.shift)
        tree.shift.append(0)
        tree.width.append(0)
        tree.first.append(len(tree.links))
        if width == 0 or len(candidates) <= SMALL_LEAF:
            tree.shift[number] = len(candidates)
            tree.links.extend(row.number for row in sorted(candidates, key=lambda row: -order[row.number]))
            return number
        tree.shift[number], tree.width[number] = low, width
        first = tree.first[number]
        tree.links.extend([0] * (1 << width))
        bits = ((1 << width) - 1) << low
        chosen: dict[int, list[Row]] = {}
        for row in candidates:
            chosen.setdefault((row.value & bits) >> low, []).append(row)
        for choice, here in chosen.items():
            tree.links[first + choice] = node(here, used | bits)
        return number

    for unit in units:
        tree.roots[unit] = node([row for row in rows if unit in row.units], 0)
    return tree
