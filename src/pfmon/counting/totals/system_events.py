"""Events of a whole processor's code (system mode), where they differ from those of a program under Linux.

A program's changes of the privilege level are those of its machine's fixed charges; here the code makes them. What a
program cannot do, so that it is never counted, such code may do: it is refused, not 0.
"""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.pmu.model.programming import Monitor
from pfmon.signals.signal_names import never_because

SIGNALS = {
    **{f"cpu_cpl_changes.{what}": f"privilege_changes.{what}" for what in ("all", "lvl0", "lvl1", "lvl2", "lvl3")},
    "uc_loads_retired": "uncacheable_accesses.loads",
    "uc_stores_retired": "uncacheable_accesses.stores",
    "cpu_op_cycles_halted": "halted_cycles",
}
"""An event's signal -> its source in system mode."""
OF_PROGRAMS = ("Linux", "user program", "operating system")
"""Words of reasons why programs cannot cause an event."""


def in_system(monitor: Monitor) -> Monitor:
    """Return a counter's monitor for a whole processor's code."""
    signal = SIGNALS.get(monitor.signal)
    return monitor._replace(event=monitor.event._replace(signal=signal)) if signal else monitor


def check_happens_to_programs(monitor: Monitor) -> None:
    """PfmonError for an event that is not counted in system mode: only of programs it is known that it is 0."""
    reason = never_because(monitor.signal)
    if any(word in reason for word in OF_PROGRAMS):
        raise PfmonError(f"{monitor.event.name} is not modelled in system mode; of programs it is 0: {reason}")
