"""Signals that are 0 in every run, with the reason: the rows ``never`` of both tables."""

from __future__ import annotations

from functools import cache

from pfmon.signals.machine_signals import meanings
from pfmon.signals.signal_terms import NEVER, never


def never_because(signal: str) -> str:
    """Return why a signal cannot happen; "" if it can."""
    return _reasons().get(signal, "")


@cache
def _reasons() -> dict[str, str]:
    by_machine = {signal: meaning.terms[0] for signal, meaning in meanings().items() if meaning.kind == NEVER}
    return never() | by_machine
