"""What is counted if nobody says: instructions, and the misses that can be counted."""

from __future__ import annotations

from pfmon.counting.countable import check_countable
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.session.supported import PROCESSORS
from pfmon.stream.table import InstructionSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WANTED = ("INSTRUCTIONS_RETIRED", "LLC_MISSES", "BRANCH_MISSES_RETIRED")


def default_events() -> list[str]:
    """Those of WANTED that the PMU of x86-64 processors counts here."""
    model = get(PROCESSORS[InstructionSet.X86_64].pmu)
    found = []
    for name in WANTED:
        try:
            check_countable(model, model.events[name])
        except PfmonError:  # misses take a machine
            continue
        found.append(name)
    return found


def names_of(events: str | Sequence[str] | None) -> list[str]:
    """Events as they are asked for, ``"a,b"`` or a sequence, in capitals; None: the default ones. PfmonError: none, or
    one twice."""
    if events is None:
        return default_events()
    names = [name.strip().upper() for name in (events.split(",") if isinstance(events, str) else events)]
    if not all(names) or not names or len({*names}) < len(names):
        raise PfmonError(f"events={events!r}: names of events are wanted, each once")
    return names
