"""Event sets that are found once: to find sets for hundreds of events takes as long as to count most examples."""

from functools import cache
from unittest.mock import patch

from pfmon.pmu import get
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run import event_sets as module
from pfmon.session.run.event_sets import EventSets, replicas
from pfmon.session.run.programmed_pmu import ProgrammedPmu


@cache
def together(pmu: str, wanted: tuple[EventRequest, ...]) -> tuple[tuple[int, ...], ...]:
    """Places of the events in sets that a PMU counts at once."""
    return tuple(tuple(places) for _, places in replicas(get(pmu), Request(wanted)))


def event_sets(pmu: str, wanted: tuple[EventRequest, ...]) -> EventSets:
    """Event sets of some events, programmed anew."""
    model, sets = get(pmu), together(pmu, wanted)
    made = [(ProgrammedPmu(model, Request(tuple(wanted[place] for place in places))), [*places]) for places in sets]
    with patch.object(module, "replicas", lambda *_: made):
        return EventSets(model, Request(wanted), unlimited=True)
