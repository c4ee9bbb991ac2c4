"""Events by their codes or generic names, as perf_event_open wants them, on the counters of a PMU."""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.pmu.request import EventRequest, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.engine.api import PmuEvent
    from pfmon.pmu.model import PmuModel

GENERIC = {
    "cycles": ("CPU_CYCLES", "CPU_OP_CYCLES_ALL"),
    "instructions": ("IA64_INST_RETIRED", "IA64_INST_RETIRED_THIS"),
    "cache-references": ("L3_REFERENCES",),
    "cache-misses": ("L3_MISSES",),
    "branches": ("BRANCH_EVENT", "BR_MISPRED_DETAIL_ALL_ALL_PRED"),
    "branch-misses": ("BR_MISPRED_DETAIL_ALL_WRONG_PATH", "BR_MISPRED_DETAIL2_ALL_ALL_UNKNOWN_PRED"),
    "bus-cycles": ("CPU_CPL_CHANGES",),
}
"""What perf calls an event -> what the processors' PMUs call it, the first that there is."""


def assigned(model: PmuModel, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
    """Register values that make events count, and their counters, in order. PfmonError: they cannot count together, or
    one cannot at all."""
    wanted = tuple(
        EventRequest(_name(model, one), plm=one.plm, threshold=one.threshold, check_qualifiers=False) for one in events
    )
    made = model.fulfil(Request(wanted))
    return dict(made.writes), [monitor.pmd for monitor in made.monitors]


def _name(model: PmuModel, wanted: PmuEvent) -> str:
    """The PMU's name of an event."""
    if wanted.name:
        found = next((name for name in GENERIC[wanted.name] if name in model.events), None)
        if found is None:
            raise PfmonError(f"{wanted.name}: the PMU has no such event")
        return found
    for event in model.events.canonical(wanted.code):
        if event.umask == wanted.umask:
            return event.name
    raise PfmonError(f"no event has code {wanted.code:#x} and unit mask {wanted.umask:#x}")
