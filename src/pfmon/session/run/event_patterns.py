"""Patterns of event names: ``all``, and regular expressions."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting.totals.countable import check_countable
from pfmon.errors import PfmonError
from pfmon.pmu.model.derived import load_derived
from pfmon.pmu.model.pmu_model import PmuModel

ALL = "all"
EXPRESSION = frozenset("[].*+?^$|(){}\\")
"""Characters that make a name a regular expression; a name without them is one event."""


def expand(model: PmuModel, names: Sequence[str]) -> list[str]:
    """Return the names, with ``all`` and regular expressions replaced by the countable events that match, in the
    table's order."""
    found: list[str] = []
    for name in names:
        event = name.partition(":")[0]
        single = event in model.events or event.upper() in load_derived(model.name)
        if single or not (name == ALL or EXPRESSION & set(name)):
            found.append(name)
        else:
            found += _countable(model, name)
    return found


def _countable(model: PmuModel, pattern: str) -> list[str]:
    """Return the countable events that match a pattern, in all states of lines; ``all``: each under one of its names.
    PfmonError: there are none."""
    everything = (event for event in model.events if event.alias_of == "-")
    matching = list(everything) if pattern == ALL else model.events.matching(pattern)
    names = []
    reason = f"-e {pattern}: no event of {model.name} has such a name"
    for event in matching:
        try:
            check_countable(model, event)
        except PfmonError as error:
            reason = f"-e {pattern}: {error}"
        else:
            names.append(f"{event.name}:MESI" if event.mesi else event.name)
    if not names:
        raise PfmonError(reason)
    return names


def check_counters(model: PmuModel, asked: Sequence[str], names: Sequence[str]) -> None:
    """Raise PfmonError if patterns match more events than there are counters, which needs --unlimited."""
    counters = len(model.bank.numbers)
    if len(names) > max(counters, len(asked)):
        raise PfmonError(
            f"-e {','.join(asked)} means {len(names)} events, more than the {counters} counters of {model.name}; "
            "--unlimited counts them all in one run"
        )
