"""Default events: instructions, and the misses that can be counted."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting.totals.countable import check_countable
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.model.generic_events import spelled
from pfmon.session.run.supported import PROCESSORS
from pfmon.stream._stream import InstructionSet

WANTED = ("INSTRUCTIONS_RETIRED", "LLC_MISSES", "BRANCH_MISSES_RETIRED")


def default_events() -> list[str]:
    """Return those of WANTED that the PMU of x86-64 processors can count here."""
    model = get(PROCESSORS[InstructionSet.X86_64].pmu)
    found = []
    for name in WANTED:
        try:
            check_countable(model, model.events[name])
        except PfmonError:  # misses need a machine
            continue
        found.append(name)
    return found


def names_of(events: str | Sequence[str] | None) -> list[str]:
    """Return event names, given as ``"a,b"`` or a sequence, as they are printed; None: the default ones. PfmonError: no
    event, or one twice."""
    if events is None:
        return default_events()
    names = [spelled(name.strip()) for name in (events.split(",") if isinstance(events, str) else events)]
    if not all(names) or not names or len({*names}) < len(names):
        raise PfmonError(f"events={events!r}: names of events are wanted, each once")
    return names
