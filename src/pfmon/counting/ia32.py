"""What an Itanium's counters count while it executes IA-32 code (PSR.is = 1).

Events of the core's IA-64 side are not functional then (pfmon on Itanium 2, section 7); what the caches, the TLBs and
the clock do is counted for either code.
"""

from __future__ import annotations

from pfmon.errors import PfmonError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.pmu.event import Event
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.programming import Monitor

NOTHING = ""

SIGNALS = {
    "ia32_inst_retired": "inst_retired",
    "inst_retired": NOTHING,  # IA-64 instructions
    **{
        name: name
        for name in (
            *("cpu_cycles", "l1d_read_misses.all", "l1i_misses", "l2_misses", "l3_references", "l3_misses"),
            *("l2dtlb_misses", "dtlb_misses", "branches.mispredicted"),
        )
    },
}
"""An event's signal -> what produces it in IA-32 code. All others are not functional."""


def check_ia32(model: PmuModel, event: Event) -> None:
    """PfmonError for an event that counts nothing meaningful in IA-32 code."""
    if event.signal not in SIGNALS:
        functional = ", ".join(one.name for one in model.events if one.signal in SIGNALS and one.alias_of == "-")
        raise PfmonError(f"{event.name} is not functional in IA-32 code; in an IA-32 program there count {functional}")


def in_ia32(monitor: Monitor, constrained: bool) -> Monitor | None:
    """What a counter counts in IA-32 code; None: nothing. ``constrained``: by code ranges, opcodes or data ranges,
    which single out IA-64 code alone (Itanium manual section 6.1.3)."""
    signal = SIGNALS.get(monitor.signal, NOTHING)
    if constrained or signal == NOTHING:
        return None
    return monitor._replace(event=monitor.event._replace(signal=signal))
