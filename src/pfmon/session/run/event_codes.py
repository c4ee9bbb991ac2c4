"""Events by code or by perf's generic name, as requested by perf_event_open, on the counters of a PMU."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting.totals.countable import check_countable, check_threshold, event_needs_machine
from pfmon.engine.guest_pmu import PmuEvent
from pfmon.errors import PfmonError
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import EventRequest, Request


def by_code(model: PmuModel, wanted: PmuEvent, machine: bool) -> PmuEvent:
    """Return an event by its code and unit mask; ``machine``: a machine runs. PfmonError: there is no such event, or it
    cannot be counted."""
    event = model.events[_name(model, wanted)]
    check_countable(model, event)
    check_threshold(event, wanted.threshold)
    if event_needs_machine(event, wanted.threshold) and not machine:
        raise PfmonError(f"{event.name}: a machine decides this, and with --guest-pmu=exact none runs")
    return wanted._replace(name="", code=event.code, umask=event.umask)


def assigned(model: PmuModel, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
    """Return the register values that count events, and their counters, in order. PfmonError: they cannot count
    together."""
    wanted = [EventRequest(_name(model, one), plm=one.plm, threshold=one.threshold) for one in events]
    made = model.fulfil(Request(tuple(wanted), check_thresholds=False))
    return dict(made.writes), [monitor.pmd for monitor in made.monitors]


def _name(model: PmuModel, wanted: PmuEvent) -> str:
    """Return the PMU's name of an event."""
    if wanted.name:
        if wanted.name not in model.events:
            raise PfmonError(f"{wanted.name}: the PMU of {model.name} has no such event")
        return wanted.name
    for event in model.events.canonical(wanted.code):
        if event.umask == wanted.umask:
            return event.name
    raise PfmonError(f"no event has code {wanted.code:#x} and unit mask {wanted.umask:#x}")
