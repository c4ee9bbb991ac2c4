"""Composition of the machine's signals: `machine.csv` beside this file.

A row is a signal, a kind and terms joined by " + ". A term is the name of a machine record, a pattern of such names
(``L3_DATA_READ_HIT_*``), or another signal of the same kind.

=========== ===========================================================================================
kind        terms
=========== ===========================================================================================
occurrence  things that happened to instructions (occurrences.pxd)
cycle       causes of back-end bubbles (stall_causes.pxd, Cause); CORE: all cycles; RETIRING: those in
            which something retired; CLOCK: cycles of another clock, the bus's or the reference clock
front       causes of front-end bubbles (FrontCause), in cycles
entrance    causes of bundles that are missing at the entrance of the instruction buffer
ideal       ... at its exit, whether or not the back end could take them
lost        ... that the back end could have taken
dispersal   syllables that a cycle dispersed or did not, by reason (stall_causes.pxd, Dispersal)
level       NAME:HIGH-LOW, those bits of a number that stands for a while, summed over cycles; NAME:full and
            NAME:FROM+, the cycles in which it has its largest value, or FROM and more
qualified   CORE: cycles in which an instruction retired that the programming lets pass
stops       a signal of architecture, stops that are in the code, and a reason of dispersal: cycles that it ended
slots       a number: so many in each cycle of the core
per_cycle   SIGNAL:HIGH-LOW, those bits of a cycle's increment of another signal
never       why it cannot happen in this machine or in a user program
=========== ===========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import fields, lines
from pfmon.lazy_map import LazyMap

NAMED = {"cycle": ("CORE", "RETIRING", "CLOCK"), "qualified": ("CORE",)}
"""Terms that are not names of records, by kind."""

# Compiled on use: every run loads this module.
LEVEL = r"(\w+):(?:(\d+)-(\d+)|(full)|(\d+)\+)"
PER_CYCLE = r"([\w.]+):(\d+)-(\d+)"


class Meaning(NamedTuple):
    """The composition of a signal: its kind, and its terms, unparsed."""

    kind: str
    terms: tuple[str, ...]


class LevelFunction(NamedTuple):
    """The increment of a level in a cycle: its bits ``high`` to ``low``, or one if it is at least ``least`` (None:
    full)."""

    level: str
    high: int = -1
    low: int = 0
    least: int | None = None

    def of(self, value: int, capacity: int) -> int:
        """Return the increment of a cycle in which the level has a value; ``capacity``: the largest value."""
        if self.high >= 0:
            return value >> self.low & (1 << self.high - self.low + 1) - 1
        return int(value >= (capacity if self.least is None else self.least))


@cache
def meanings() -> Mapping[str, Meaning]:
    """Return every signal of the machine."""
    path = join(dirname(__file__), "machine.csv")
    texts = {}
    for line in lines(path, ("signal", "kind", "terms")):
        signal, text = line.split(",", 1)
        texts[signal] = text
    return LazyMap(texts, _meaning)


def _meaning(text: str) -> Meaning:
    kind, terms = fields(text)
    return Meaning(kind, (terms,) if kind == "never" else tuple(terms.split(" + ")))


def expanded(signal: str) -> tuple[str, ...]:
    """Return a signal's terms, with other signals replaced by their terms. ValueError: a signal of another kind."""
    kind, terms = meanings()[signal]
    found: list[str] = []
    for term in terms:
        inner = meanings().get(term)
        if inner is None:
            found.append(term)
        elif inner.kind != kind:
            raise ValueError(f"{signal}: {term} is of kind {inner.kind}, not {kind}")
        else:
            found += expanded(term)
    return tuple(found)


def select(signal: str, names: Mapping[str, int]) -> frozenset[int]:
    """Return the numbers of the records that match a signal's terms. ValueError: a term matches none."""
    kind = meanings()[signal].kind
    found: set[int] = set()
    for term in expanded(signal):
        if term in NAMED.get(kind, ()):
            continue
        matching = _matching(term, names)
        if not matching:
            raise ValueError(f"{signal}: {term} is nothing that is recorded")
        found.update(matching)
    return frozenset(found)


def _matching(term: str, names: Mapping[str, int]) -> list[int]:
    """Return the numbers of the names that match a term; most terms are a name."""
    if not any(letter in term for letter in "*?["):
        return [names[term]] if term in names else []
    if term.endswith("*") and term[:-1].replace("_", "").isalnum():
        return [number for name, number in names.items() if name.startswith(term[:-1])]
    return [number for name, number in names.items() if fnmatchcase(name, term)]


def named(signal: str) -> Sequence[str]:
    """Return the terms of a signal that are not names of records (CORE, RETIRING, CLOCK)."""
    return [term for term in expanded(signal) if term in NAMED.get(meanings()[signal].kind, ())]


def counts_all_cycles(signal: str) -> bool:
    """Return whether a signal counts all cycles of the core or of another clock, including the operating system's if
    levels allow it."""
    meaning = meanings().get(signal)
    return meaning is not None and meaning.kind == "cycle" and not {"CORE", "CLOCK"}.isdisjoint(named(signal))


def level_function(term: str) -> LevelFunction:
    """Parse a term of kind level. ValueError: malformed."""
    match = re.fullmatch(LEVEL, term)
    if match is None:
        raise ValueError(f"{term}: NAME:HIGH-LOW, NAME:full or NAME:FROM+ is wanted")
    name, high, low, full, least = match.groups()
    if high is not None:
        return LevelFunction(name, int(high), int(low))
    return LevelFunction(name, least=None if full else int(least))


def per_cycle(term: str) -> tuple[str, int, int]:
    """Parse a term of kind per_cycle: signal, upper and lower bit. ValueError: malformed."""
    match = re.fullmatch(PER_CYCLE, term)
    if match is None:
        raise ValueError(f"{term}: SIGNAL:HIGH-LOW is wanted")
    return match[1], int(match[2]), int(match[3])
