"""What can be counted, and whether it takes a machine: known without one."""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.signals import machine, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.pmu.event import Event
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.programming import Monitor

READS, WRITES, FLOAT_READS = "L1D_READ", "L2_DATA_WRITE", "L2_DATA_READ"
MOVED = {
    "loads_retired": (READS,),
    "stores_retired": (WRITES,),
    "data_references": (READS, WRITES),
    "data_debug_register_matches": (READS, WRITES),
    "rse_references.all": (READS, WRITES),
    "rse_references.load": (READS,),
    "rse_references.store": (WRITES,),
}
"""Signals that count registers which the register stack engine moves, and what each of these does in the machine."""

FAILED_CHECKS = {"loads_retired": (READS, FLOAT_READS), "loads_retired.integer": (READS,)}
"""Signals that count a check load if it failed, and what it does then; one that found its entry does nothing."""


LARGEST = {"fp_ops_retired": 8, "data_debug_register_matches": 4}
"""Signals of instructions that retire together, and the most that a cycle adds: two fpma, four accesses."""

DEBUG_MATCHES = "data_debug_register_matches"
"""What matches data breakpoint registers; without a data range none are programmed."""


NO_CYCLE = ("front", "ideal", "lost", "entrance")
"""Kinds of signals of which it is not recorded what single cycles add."""


def needs_machine(signal: str, threshold: int) -> bool:
    """Whether architecture alone does not tell what is counted."""
    if threshold:
        return True
    meaning = machine.meanings().get(signal)
    return meaning is not None and meaning.kind != "never"


def has_kernel_time(monitor: Monitor) -> bool:
    """Whether a counter counts something at level 0: of what the operating system does the time alone is known."""
    return machine.counts_all_cycles(monitor.signal)


def limit(event: Event) -> int:
    """The most that a cycle adds to an event where more may happen in it: the excess is lost (Montecito manual section
    4.2, Max Inc/Cyc). 0: all that happens is counted."""
    return event.max_increment if LARGEST.get(event.signal, 0) > event.max_increment else 0


def event_needs_machine(event: Event, threshold: int) -> bool:
    """Whether architecture alone does not tell what an event comes to."""
    return needs_machine(event.signal, threshold) or bool(limit(event))


def counts_machine(monitor: Monitor) -> bool:
    """Whether architecture alone does not tell what a counter counts."""
    return event_needs_machine(monitor.event, monitor.threshold or monitor.edge)


def check_monitor(model: PmuModel, monitor: Monitor) -> None:
    """PfmonError for what a counter is set to and does not count here."""
    check_countable(model, monitor.event)
    if monitor.cmask:
        from pfmon.counting.conditions import condition_of

        condition_of(monitor)
        return
    check_threshold(monitor.event, monitor.threshold)


def check_countable(model: PmuModel, event: Event) -> None:
    """PfmonError for an event whose signal nothing produces."""
    if event.fidelity == "unmodelled":
        raise PfmonError(f"{event.name} is not modelled: {event.reason}")
    if event.signal not in terms.available() and event.signal not in machine.meanings():
        raise PfmonError(f"{event.name} cannot be counted: nothing produces {event.signal}")


def check_threshold(event: Event, threshold: int) -> None:
    """PfmonError for a threshold on an event of which single cycles are not known."""
    if not threshold:
        return
    signal = event.signal
    meaning = machine.meanings().get(signal)
    if meaning and meaning.kind in NO_CYCLE:
        reason = "the machine records sums of lost bundles, not those of single cycles"
    elif not meaning and signal not in MOVED and not _weighs_alone(signal):
        reason = "in which cycle it happens is not recorded"
    else:
        return
    raise PfmonError(f"--event-thresholds: {event.name} takes no threshold here: {reason}")


def _weighs_alone(signal: str) -> bool:
    """Whether instructions make a signal, and not marks of which no cycle is known."""
    own = terms.terms().get(signal, ())
    sources = {term.source for term in own}
    return terms.INSTRUCTION in sources and (terms.MARK not in sources or signal in FAILED_CHECKS)
