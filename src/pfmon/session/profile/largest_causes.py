"""The largest causes of stalls with the places where they happen and what usually helps: `advice.csv` beside this file,
one row for each component of the cycle breakdown (cpi_causes.csv)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from pfmon.csv_tables import rows
from pfmon.session.profile.code_profile import SYSTEM, Function, FunctionNames, Source
from pfmon.session.profile.cpi_causes import INHERENT, PARTS
from pfmon.session.profile.cpi_stack import CpiStack, counted
from pfmon.session.profile.finding import WORDS, causes_of, query_of_causes
from pfmon.session.run.programmed_pmu import RunData

Key = TypeVar("Key")

ADVICE: dict[str, str] = dict(rows(str(Path(__file__).parent / "advice.csv"), ("component", "advice")))
"""Component of the cycle breakdown -> what usually helps."""
LOADERS = ("ld-linux", "ld64", "ld.so", "ld-musl")
LOADER_ADVICE = (
    "The function is the dynamic loader's, which works before main: this is a smaller share of a longer run; fewer "
    "libraries, fewer symbols or a static link make it less."
)
LEAST_CAUSE = 0.01
"""Causes of a smaller share of the cycles are left out."""


class LargestCause(NamedTuple):
    """A cause of stalls. ``part``: of the breakdown; ``cause``: the name of its component in a sentence; ``cycles``: of
    the run; ``advice``: what usually helps; ``function``: the one with most of these cycles (None: they belong to no
    code), and its ``in_function`` cycles of this cause; ``source``: the function's line with most of them (None: not
    known), and its ``in_line`` cycles."""

    part: str
    cause: str
    cycles: int
    advice: str
    function: Function | None
    in_function: int
    source: Source | None
    in_line: int


def largest_causes(cpi: CpiStack, seen: RunData, names: FunctionNames, most: int = 3) -> list[LargestCause]:
    """Return the components of ``cpi`` with most cycles, the largest first, without those that retired."""
    found = [(cycles, part, name) for part in PARTS if part != INHERENT for name, cycles in cpi.parts[part].items()]
    found = [one for one in sorted(found, key=lambda one: -one[0])[:most] if one[0] > LEAST_CAUSE * cpi.cycles]
    if not found:
        return []
    queries = [query_of_causes(causes_of(*PARTS[part][name])) for _, part, name in found]
    counts = counted(seen, queries, by_place=True).by_address()
    causes = []
    for place, (cycles, part, name) in enumerate(found):
        words = WORDS[part] if name == "flushes" else WORDS.get(name, name)
        own = {address: of[place] for address, of in counts.items() if of[place]}
        place_of = _place(own, names)
        advice = LOADER_ADVICE if place_of[0] and _is_loader(place_of[0]) else ADVICE[name]
        causes.append(LargestCause(part, words, cycles, advice, *place_of))
    return causes


def _place(cycles: Mapping[int, int], lookup: FunctionNames) -> tuple[Function | None, int, Source | None, int]:
    """Return the function with most of some cycles, given by address, and its line with most of them. Lines of the
    system's libraries are in debug files that take long to read."""
    function, in_function = _most((lookup.function(address), own) for address, own in cycles.items())
    if function is None or function.object.startswith(SYSTEM):
        return function, in_function, None, 0
    within = [(address, own) for address, own in cycles.items() if lookup.function(address) == function]
    source, in_line = _most((lookup.source(address), own) for address, own in within)
    return function, in_function, source, in_line


def _is_loader(function: Function) -> bool:
    return function.object.rpartition("/")[2].startswith(LOADERS)


def _most(pairs: Iterable[tuple[Key | None, int]]) -> tuple[Key | None, int]:
    """Return the key with the largest sum; None, 0: there is none."""
    sums: Counter[Key] = Counter()
    for key, own in pairs:
        if key is not None:
            sums[key] += own
    return max(sums.items(), key=lambda one: one[1]) if sums else (None, 0)
