"""The names of the signals, everything that can be counted in a machine.

`names.csv` beside this file is the table: name, unit of the increments, fidelity (`exact`: architecture
decides it and every engine can produce it; `modelled`: the machine decides it), meaning in one line.
The `signal` column of the event tables (`pmu/targets/*/events.csv`) refers to these names.
"""

from __future__ import annotations

from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from pfmon.csv_tables import rows


class Signal(NamedTuple):
    """One signal; `unit` is the unit of an increment of one."""

    name: str
    unit: str
    fidelity: str
    meaning: str


@cache
def signals() -> dict[str, Signal]:
    """Return every signal by name, exact ones first."""
    return {row[0]: Signal(*row) for row in rows(join(dirname(__file__), "names.csv"), Signal._fields)}


def is_produced(signal: str) -> bool:
    """Return whether something produces a signal: the stream, or a machine."""
    from pfmon.signals import machine_signals, signal_terms

    return signal in signal_terms.available() or signal in machine_signals.meanings()


def never_because(signal: str) -> str:
    """Return why a signal cannot happen, and is 0 in every run; "" if it can."""
    return _reasons().get(signal, "")


@cache
def _reasons() -> dict[str, str]:
    """The rows ``never`` of both tables of terms."""
    from pfmon.signals.machine_signals import meanings
    from pfmon.signals.signal_terms import NEVER, never

    by_machine = {signal: meaning.terms[0] for signal, meaning in meanings().items() if meaning.kind == NEVER}
    return never() | by_machine
