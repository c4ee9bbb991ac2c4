"""Handlers that test the qualifying predicate themselves, for instructions that are often predicated."""

from __future__ import annotations

HANDLERS: dict[int, int] = {}
"""By handler address: the handler of the same instruction that tests the qualifying predicate and records its value."""


def guarded(run: int, guarded_run: int) -> None:
    """Use ``guarded_run`` for predicated instructions whose handler is ``run``, without a guard."""
    HANDLERS[run] = guarded_run
