"""The names of everything that can happen in a machine and be counted.

`names.csv` beside this file is the table: name, unit of the increments, fidelity (`exact`: architecture
decides it and every engine can produce it; `modelled`: the machine decides it), meaning in one line.
The `signal` column of the event tables (`pmu/events/*.csv`) refers to these names.
"""

from __future__ import annotations

from functools import cache
from os.path import dirname, join

from pfmon.light_typing import NamedTuple
from pfmon.tables import rows


class Signal(NamedTuple):
    """One thing that can happen; `unit` is what an increment of one stands for."""

    name: str
    unit: str
    fidelity: str
    meaning: str


@cache
def signals() -> dict[str, Signal]:
    """Every signal by name, exact ones first."""
    return {row[0]: Signal(*row) for row in rows(join(dirname(__file__), "names.csv"), Signal._fields)}
