"""The largest cause of stalls in one line: what it is, its share of the cycles, and where most of it happens."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import NamedTuple

from pfmon.counting._counting import QueryKind
from pfmon.counting.totals.record_query import RecordQuery, names
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.profile.code_profile import SYSTEM, Function, FunctionNames
from pfmon.session.profile.cpi_causes import PARTS
from pfmon.session.profile.cpi_stack import counted
from pfmon.session.run.programmed_pmu import RunData

THRESHOLD = 1 / 3
"""The share of all cycles above which a cause is worth a line."""

WORDS = {
    "data access": "waiting for data",
    "operations": "waiting for operations",
    "branch mispredicts": "mispredicted branches",
    "instruction fetch": "waiting for instructions",
    "cache misses": "instruction cache misses",
    "TLB misses": "instruction TLB misses",
    "decoding": "fetching and decoding instructions",
    "L1D latency": "latency of loads that L1D serves",
    "divider": "a busy divider",
    "dispatch": "dispatching no more in a cycle",
    "floating-point registers": "waiting for floating-point registers",
    "predicates, application registers": "waiting for predicates or application registers",
    "first-level data cache": "a busy first-level data cache",
}
"""Names in a sentence of parts of the breakdown and of their components; others have their own."""


class Finding(NamedTuple):
    """A cause of stalls. ``share``: of all cycles; ``cause``: a part of the breakdown, or the component of it that is
    more than the threshold by itself; ``place``: the line with most of its cycles, FILE:LINE, or the function, "" if
    they belong to no code."""

    share: float
    cause: str
    place: str

    def __str__(self) -> str:
        most = f", most at {self.place}" if self.place else ""
        return f"{self.share:.0%} of cycles: {self.cause}{most}"


def finding(seen: RunData, objects: LoadedObjects, demangle: bool = True) -> Finding | None:
    """Return the largest part of the cycles that is not inherent execution; None: it is no more than a third."""
    parts = {part: {name: causes_of(*of) for name, of in inner.items()} for part, inner in PARTS.items()}
    pieces = [mask for inner in parts.values() for mask in inner.values()]
    totals = iter(counted(seen, [query_of_causes(mask) for mask in pieces]).totals()[:-1])
    cycles = {part: {name: next(totals) for name in inner} for part, inner in parts.items()}
    whole = sum(sum(inner.values()) for inner in cycles.values())
    part = max(list(PARTS)[1:], key=lambda part: sum(cycles[part].values()))
    own = cycles[part]
    if sum(own.values()) <= THRESHOLD * whole:
        return None
    component = max(own, key=own.__getitem__)
    if len(own) > 1 and own[component] > THRESHOLD * whole:
        share, cause, mask = own[component] / whole, component, parts[part][component]
    else:
        share, cause, mask = sum(own.values()) / whole, part, sum(parts[part].values())  # no cause is in two components
    return Finding(share, WORDS.get(cause, cause), _place(mask, seen, objects, demangle))


def causes_of(*patterns: str) -> int:
    """Return the causes that match one of the patterns, as bits."""
    numbers = names("cycle")
    return sum(1 << numbers[cause] for cause in numbers if any(fnmatchcase(cause, one) for one in patterns))


def query_of_causes(causes: int) -> RecordQuery:
    """The cycles of causes; of none: those that retired."""
    return RecordQuery(QueryKind.CYCLES, retiring=not causes, causes=causes)


def _place(mask: int, seen: RunData, objects: LoadedObjects, demangle: bool) -> str:
    """Return the function with most cycles of some causes, or in code of the user's its line with most of them. Lines
    of the system's libraries are in debug files that take long to read, and say less than the function."""
    lookup = FunctionNames(objects, demangle, seen.table.instruction_set)
    counts = {
        address: cycles[0]
        for address, cycles in counted(seen, [query_of_causes(mask)], by_place=True).by_address().items()
        if cycles[0]
    }
    functions: Counter[Function] = Counter()
    for address, cycles in counts.items():
        functions[lookup.function(address)] += cycles
    if not functions:
        return ""
    function = max(functions, key=functions.__getitem__)
    if function.object.startswith(SYSTEM):
        return str(function)
    places: Counter[str] = Counter()
    for address, cycles in counts.items():
        if lookup.function(address) == function:
            places[str(lookup.source(address) or function)] += cycles
    return max(places, key=places.__getitem__)
