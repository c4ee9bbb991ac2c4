"""Events by code or by perf's generic name, as requested by perf_event_open, on the counters of a PMU."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.counting.totals.countable import check_countable, check_threshold, event_needs_machine
from pfmon.engine.guest_pmu import PmuEvent
from pfmon.errors import PfmonError
from pfmon.pmu.model.intel import EXTRA_REGISTERS
from pfmon.pmu.model.monitors import read_counters
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.pmu.registers.msr_file import CONTROL


def by_code(model: PmuModel, wanted: PmuEvent, machine: bool) -> PmuEvent:
    """Return an event by its code and unit mask; ``machine``: a machine runs. PfmonError: there is no such event, or it
    cannot be counted."""
    if model.target.load_latency == (wanted.code, wanted.umask) and not wanted.name:
        raise PfmonError(f"event code {wanted.code:#x}: precise loads (PEBS) are sampled by pfmon, not by the program")
    if not wanted.name and model.architecture == "x86":
        wanted = _selected(model, wanted)
    event = model.events[_name(model, wanted)]
    check_countable(model, event)
    check_threshold(event, wanted.threshold)
    if event_needs_machine(event, wanted.threshold) and not machine:
        raise PfmonError(f"{event.name}: a machine decides this, and with --guest-pmu=exact none runs")
    return wanted._replace(name=event.name, code=event.code, umask=event.umask)


def assigned(model: PmuModel, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
    """Return the register values that count events, and their counters, in order. PfmonError: they cannot count
    together."""
    wanted = [
        EventRequest(_name(model, one), one.plm, threshold=one.threshold, edge=one.edge, invert=one.invert)
        for one in events
    ]
    made = model.fulfil(Request(tuple(wanted), check_thresholds=False))
    return dict(made.writes), [monitor.pmd for monitor in made.monitors]


def _selected(model: PmuModel, wanted: PmuEvent) -> PmuEvent:
    """Return the event that an event select register of Intel's selects, by name."""
    select = model.registers["ia32_perfevtsel0"]
    fields = {"event": wanted.code, "umask": wanted.umask, "cmask": wanted.threshold, "usr": 1, "en": 1}
    values = {select.name: select.encode(**fields, e=int(wanted.edge), inv=int(wanted.invert))}
    if CONTROL in model.registers:
        values[CONTROL] = 1
    for codes in EXTRA_REGISTERS.values():
        if (register := codes.get(wanted.code)) in model.registers and register:
            values[register] = model.registers[register].accept(wanted.extra)
    reading = read_counters(model, values)
    if not reading.monitors:
        reason = reading.unknown[0].reason
        raise PfmonError(f"event code {wanted.code:#x}, unit mask {wanted.umask:#x}: {reason}")
    found = reading.monitors[0]
    return wanted._replace(name=found.event.name, threshold=found.threshold, edge=found.edge, invert=found.invert)


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
