"""Handlers that test the qualifying predicate themselves, for instructions that are often predicated."""

from __future__ import annotations

HANDLERS: dict[int, int] = {}
"""By a handler's address, that of one that does the same if the qualifying predicate is 1, and notes so."""


def guarded(run: int, guarded_run: int) -> None:
    """When an instruction that ``run`` executes is predicated, ``guarded_run`` executes it, without a guard."""
    HANDLERS[run] = guarded_run
