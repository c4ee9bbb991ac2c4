"""An Itanium's counters while it executes IA-32 code (PSR.is = 1).

Events of the core's IA-64 side are not functional then (pfmon on Itanium 2, section 7); events of the caches, the TLBs
and the clock are counted for either code, and captured by the event address registers (Itanium manual section 6.1.3.3).
The branch buffer is accepted, and captures IA-64 code alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import PfmonError
from pfmon.pmu.capture.capture_setting import CaptureSetting
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor

NOTHING = ""
IA32_ONLY, IA64_ONLY = 1, 2
"""Values of PMC.ism."""
IA32_INSTRUCTIONS = "ia32_inst_retired"
"""The signal of an event that IA-64 code does not cause."""

SIGNALS = {
    IA32_INSTRUCTIONS: "inst_retired",
    "inst_retired": NOTHING,  # IA-64 instructions
    "branch_event": NOTHING,
    **{
        name: name
        for name in (
            *("cpu_cycles", "l1d_read_misses.all", "l1i_misses", "l2_misses", "l3_references", "l3_misses"),
            *("l2dtlb_misses", "dtlb_misses", "branches.mispredicted"),
            *("data_ear_events", "instruction_ear_events"),
        )
    },
}
"""An event's signal -> its source in IA-32 code. All others are not functional."""


OF_ALAT = ("dear_alat", "iear_alat")
"""An ALAT captures nothing of IA-32 code, which has no advanced loads."""


def check_ia32(model: PmuModel, event: Event) -> None:
    """PfmonError for an event that counts nothing meaningful in IA-32 code."""
    if event.signal not in SIGNALS or event.ear in OF_ALAT:
        functional = ", ".join(
            one.name
            for one in model.events
            if one.signal in SIGNALS and one.alias_of == "-" and one.ear == "-" and not one.branch_buffer
        )
        raise PfmonError(f"{event.name} is not functional in IA-32 code; in an IA-32 program there count {functional}")


def in_ia32(monitor: Monitor, constrained: bool) -> Monitor | None:
    """Returns a counter's monitor for IA-32 code; None: it counts nothing. ``constrained``: by code ranges, opcodes or
    data ranges, which select IA-64 code alone (Itanium manual section 6.1.3)."""
    signal = SIGNALS.get(monitor.signal, NOTHING)
    if constrained or signal == NOTHING:
        return None
    return monitor._replace(event=monitor.event._replace(signal=signal))


def captures_in_ia32(setting: CaptureSetting, data_constrained: bool, fetch_constrained: bool) -> CaptureSetting:
    """The setting for IA-32 code: no branches, and nothing where ranges or opcodes select IA-64 code."""
    return setting._replace(
        data=None if data_constrained else setting.data,
        fetch=None if fetch_constrained else setting.fetch,
        branches=None,
    )


def instruction_set_notes(monitors: Sequence[Monitor], counting: Sequence[Monitor], ia32: bool) -> list[str]:
    """Notes on counters that count nothing because the program's code, IA-32 or IA-64, is not of their instruction set:
    ``counting`` are those that do count."""
    there = {monitor.pmd for monitor in counting}
    code, other, only = ("IA-32", "IA-64", IA64_ONLY) if ia32 else ("IA-64", "IA-32", IA32_ONLY)
    notes = []
    for one in monitors:
        name = one.event.name
        if one.ism & only or (not ia32 and one.signal == IA32_INSTRUCTIONS):
            notes.append(f"the program executes {code} code only; {name} counts {other} code")
        elif ia32 and one.pmd not in there:
            notes.append(f"{name}, as it is programmed, counts IA-64 code alone, and this program is IA-32 code")
    return list(dict.fromkeys(notes))
