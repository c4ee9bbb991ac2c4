"""Increments of the architectural signals, as data: `retired.csv` beside this file.

A signal is a sum of terms, one per row. ``source`` and ``of`` select a term's instructions or marks, ``adds`` its
increment:

============ ======================================= =================================================================
source       of                                      adds
============ ======================================= =================================================================
instruction  kinds that it has, and with ! those     ``retired``: one whenever it retires; ``executed``: one when its
             that it has not                         condition holds (its qualifying predicate; for a branch, that it
             (``*_kinds.pxd`` in isa/)               is taken); ``unexecuted``: one when it does not
failed check the same, of the check that left a      ``retired``
             block for its recovery code
mark KIND    values of the mark; none: any           ``count``: one; ``low``: bits 15:0 of its value
             (docs/dev/stream.md)
never        why it cannot happen                    nothing
============ ======================================= =================================================================

A number before the increment multiplies it.
"""

from __future__ import annotations

from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import rows
from pfmon.stream._stream import Ia64Kind, Kind, PpcKind, X86Kind
from pfmon.stream.marks import Mark

INSTRUCTION, FAILED_CHECK, MARK, NEVER = "instruction", "failed check", "mark", "never"

EXECUTION = {"retired": (1, 0), "executed": (0, 1), "unexecuted": (1, -1)}
"""Increment at retirement, and additional increment when the condition holds, by the names in ``adds``."""


class Kinds(NamedTuple):
    """Flags of Kind, and of Ia64Kind, PpcKind or X86Kind, that an instruction must have, and must not have."""

    wanted: int = 0
    unwanted: int = 0
    isa_wanted: int = 0
    isa_unwanted: int = 0

    def match(self, kind: int, isa_kind: int) -> bool:
        """Return whether an instruction's kinds match."""
        return (
            kind & self.wanted == self.wanted
            and not kind & self.unwanted
            and isa_kind & self.isa_wanted == self.isa_wanted
            and not isa_kind & self.isa_unwanted
        )


class Term(NamedTuple):
    """One row: an instruction adds ``retired``, and ``executed`` more when its condition holds; a mark of kind ``mark``
    whose value is among ``values`` (empty: any) adds ``each`` and ``low`` times bits 15:0 of its value."""

    source: str
    kinds: Kinds = Kinds()
    retired: int = 0
    executed: int = 0
    mark: int = 0
    values: tuple[int, ...] = ()
    each: int = 0
    low: int = 0


@cache
def terms() -> dict[str, tuple[Term, ...]]:
    """Return the terms of every signal that can be counted without a machine; empty if it cannot happen."""
    found: dict[str, list[Term]] = {}
    path = join(dirname(__file__), "retired.csv")
    for signal, source, of, adds in rows(path, ("signal", "source", "of", "adds")):
        own = found.setdefault(signal, [])
        if source != NEVER:
            own.append(_term(source, of, adds))
    return {signal: tuple(own) for signal, own in found.items()}


@cache
def never() -> dict[str, str]:
    """Return the reasons why signals cannot happen, by signal."""
    path = join(dirname(__file__), "retired.csv")
    table = rows(path, ("signal", "source", "of", "adds"))
    return {signal: why for signal, source, why, _ in table if source == NEVER}


@cache
def available() -> frozenset[str]:
    """Return the signals that can be counted without a machine."""
    return frozenset(terms())


def depends_on_directions(signal: str) -> bool:
    """Return whether a signal depends on which branches were taken."""
    own = terms().get(signal, ())
    return any(term.executed and term.kinds.wanted & int(Kind.BRANCH) for term in own)


def _term(source: str, of: str, adds: str) -> Term:
    number, _, what = adds.rpartition(" ")
    factor = int(number or 1)
    if source.startswith(MARK):
        values = tuple(map(int, of.split()))
        kind = Mark[source.partition(" ")[2]]
        return Term(MARK, mark=kind, values=values, each=factor * (what == "count"), low=factor * (what == "low"))
    retired, executed = EXECUTION[what]
    return Term(source, _kinds(of), factor * retired, factor * executed)


def _kinds(text: str) -> Kinds:
    """Return flags from their names. KeyError: unknown kind."""
    flags = [0, 0, 0, 0]
    for word in text.split():
        name = word.lstrip("!")
        place = 1 if word != name else 0
        if name in Kind.__members__:
            flags[place] |= int(Kind[name])
        else:
            of = next((kinds for kinds in (Ia64Kind, PpcKind) if name in kinds.__members__), X86Kind)
            flags[place + 2] |= int(of[name])
    return Kinds(*flags)
