"""Whether an assignment of events to counters is legal, written from the manuals' sentences alone."""

from pfmon import pmu
from pfmon.pmu.model.event_table import Event


def legal(name: str, events: list[Event], counters: tuple[int, ...]) -> bool:
    """Whether events may count on these counters: the manuals' sentences, one by one."""
    if len(set(counters)) != len(counters):
        return False
    at = dict(zip(counters, events, strict=True))
    if any(counter not in event.counters for counter, event in at.items()):
        return False
    if name == "itanium":
        return True
    return _legal_l1(at) and (_legal_l2(at) if name == "itanium2" else _legal_l2d(at))


def _legal_l1(at: dict[int, Event]) -> bool:
    """One L1D set, selected by the event on PMC5 (section 4.8.2)."""
    sets = {event.set for event in at.values() if event.group == "L1D"}
    return not sets or (len(sets) == 1 and 5 in at and at[5].set in sets)


def _legal_l2(at: dict[int, Event]) -> bool:
    """Itanium 2: one L2 set, selected by PMC4, whose unit mask holds in sets 0, 3 and 4."""
    members = [event for event in at.values() if event.group == "L2"]
    if not members:
        return True
    if len({event.set for event in members}) > 1 or at.get(4) not in members:
        return False
    if sum(event.code in (0xA0, 0xA8, 0xAC) for event in members) > 1:
        return False
    shared = members[0].set in ("L2:0", "L2:3", "L2:4")
    return not shared or all(event.umask in (0, at[4].umask) for event in members)


def _legal_l2d(at: dict[int, Event]) -> bool:
    """Montecito: L2D events on 4, 5, 8 of PMC4's set and unit mask, or on 6, 7, 9 of PMC6's set."""
    table = pmu.get("montecito").events
    if sum(event.code in (0xE0, 0xE2) for event in at.values()) > 1:
        return False
    for counter, event in at.items():
        if event.group != "L2D":
            continue
        head = 4 if counter in (4, 5, 8) else 6 if counter in (6, 7, 9) else None
        if head is None or head not in at or at[head].set != event.set:
            return False
        variants = [e for e in table if (e.code, e.set) == (event.code, event.set)]
        if head == 4 and at[4].umask != event.umask and len(variants) > 1:
            return False
    return True
