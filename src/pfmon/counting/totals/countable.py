"""Decides which events can be counted, and which need a timing model: known without one."""

from __future__ import annotations

from pfmon.counting.totals.cycle_records import FAILED_CHECKS, MARKED, MOVED, requires_timing_model
from pfmon.errors import PfmonError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.qualify.filters import ALL_PRIVILEGES
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.signals import machine_signals, signal_terms
from pfmon.signals.signal_names import is_produced, signals

POSSIBLE_INCREMENTS = {
    "fp_ops_retired": 8,
    "data_debug_register_matches": 4,
    **dict.fromkeys(("inst_failed_chka_ldc.all", "inst_failed_chka_ldc.int", "inst_failed_chka_ldc.fp"), 2),
    **dict.fromkeys(("fp_flush_to_zero.real", "fp_flush_to_zero.possible"), 4),
}
"""Signals of instructions that retire together, and the maximum increment of a cycle: two fpma, four accesses, two
loads, two results of each of two parallel operations."""

DEBUG_MATCHES = "data_debug_register_matches"
"""Matches of data breakpoint registers; without a data range none are programmed."""


NO_CYCLE = ("front", "ideal", "lost", "entrance")
"""Kinds of signals without recorded per-cycle increments."""


def has_kernel_time(monitor: Monitor) -> bool:
    """Whether a counter counts at level 0, where only the operating system's time is known."""
    return machine_signals.counts_all_cycles(monitor.signal)


def limit(event: Event) -> int:
    """Maximum increment of a cycle for an event: the excess is lost (Montecito manual section 4.2, Max Inc/Cyc). 0:
    nothing is lost."""
    return event.max_increment if POSSIBLE_INCREMENTS.get(event.signal, 0) > event.max_increment else 0


def event_needs_machine(event: Event, threshold: int) -> bool:
    """Whether an event is not decided by architecture alone."""
    return requires_timing_model(event.signal, threshold) or bool(limit(event))


def counts_timing_model(monitor: Monitor) -> bool:
    """Whether a counter's event is not decided by architecture alone."""
    return event_needs_machine(monitor.event, monitor.threshold or monitor.edge)


MISSES = frozenset(
    f"CORE_{name}"
    for name in (
        *("L1D_READ_MISS", "L1D_WRITE_MISS", "L1I_MISS", "LOAD_WALK", "STORE_WALK", "ITLB_MISS"),
        *("LLC_REFERENCE", "LLC_MISS", "MISPREDICTED_*"),
        *(f"MISPREDICTED_{what}" for what in ("NOT_TAKEN", "TAKEN", "CALL", "RETURN", "JUMP")),
    )
)
"""Occurrences of out-of-order machines that do not depend on time (word_plans.pxd)."""

EXECUTIONS = frozenset(
    f"CORE_{name}"
    for name in ("LOAD_HIT", "SLOT", "UOP", "DIVIDER_CYCLE", "FUSED", "MICROCODE_SLOT", "INTEGER_DIVIDER_CYCLE")
)
"""Occurrences that follow from executions (core_events.pxd, EVENT_EXECUTIONS)."""

SOURCES = frozenset(
    f"CORE_{name}" for name in ("DECODED_SLOT", "CACHED_SLOT", "LOOPED_SLOT", "DECODED_INSTRUCTION", "CACHE_LEFT")
)
"""Occurrences of where micro-operations come from."""

WAITS = frozenset(
    f"CORE_{name}" for name in ("FULL_CYCLE", "STORES_FULL_CYCLE", "UNDELIVERED_SLOT", "UNDELIVERED_CYCLE")
)
"""Occurrences of what dispatch waited for."""

LOAD_MISS_CYCLE = "CORE_LOAD_MISS_CYCLE"
"""One of every out-of-order machine with time."""


def is_miss(monitor: Monitor) -> bool:
    """Whether an out-of-order machine without time counts an event: misses and mispredictions, without a condition on
    single cycles."""
    meaning = machine_signals.meanings().get(monitor.signal)
    if meaning is None or meaning.kind != "occurrence" or monitor.conditional or monitor.threshold or monitor.edge:
        return False
    of_cores = {term for term in machine_signals.expanded(monitor.signal) if term.startswith("CORE_")}
    return bool(of_cores) and of_cores <= MISSES


def of_executions(monitor: Monitor) -> bool:
    """Whether an event follows from how often instructions execute on a core, which its machine records on demand."""
    return not EXECUTIONS.isdisjoint(_occurrences(monitor))


def of_sources(monitor: Monitor) -> bool:
    """Whether an event tells where micro-operations come from, which a core's machine records on demand."""
    return not SOURCES.isdisjoint(_occurrences(monitor))


def has_cycles(monitor: Monitor) -> bool:
    """Whether the cycles of an event are known one by one on a core, so that conditions on them are."""
    return (EXECUTIONS | SOURCES | WAITS).isdisjoint(_occurrences(monitor))


def of_instruction_table(monitor: Monitor) -> bool:
    """Whether only a machine with a table of instructions counts an event."""
    return any(term.startswith("CORE_") and term not in MISSES for term in _occurrences(monitor) - {LOAD_MISS_CYCLE})


def _occurrences(monitor: Monitor) -> frozenset[str]:
    meaning = machine_signals.meanings().get(monitor.signal)
    if meaning is None or meaning.kind != "occurrence":
        return frozenset()
    return frozenset(machine_signals.expanded(monitor.signal))


def is_level(monitor: Monitor) -> bool:
    """Whether a monitor counts the occupancy of a queue, or registers, in each cycle."""
    meaning = machine_signals.meanings().get(monitor.signal)
    return meaning is not None and meaning.kind == "level"


def is_clock(monitor: Monitor) -> bool:
    """Whether a monitor counts cycles of another clock than the core's, or slots, which follow from all cycles."""
    meaning = machine_signals.meanings().get(monitor.signal)
    if meaning is None:
        return False
    return meaning.kind == "slots" or (meaning.kind == "cycle" and "CLOCK" in machine_signals.named(monitor.signal))


def check_divided(monitor: Monitor, registers: RegisterFile) -> None:
    """PfmonError for occupancies and other clocks at some privileges of a whole processor's code alone: they belong to
    no block."""
    if registers.privileges(monitor.plm, monitor.pm) != ALL_PRIVILEGES and (is_level(monitor) or is_clock(monitor)):
        raise PfmonError(
            f"{monitor.event.name} is counted at all privilege levels together alone (--priv-levels=0123): "
            "the machine does not know its part at each"
        )


def check_monitor(model: PmuModel, monitor: Monitor) -> None:
    """PfmonError for a setting of a counter that is not supported here."""
    check_countable(model, monitor.event)
    if monitor.cmask:
        from pfmon.counting.totals.record_query import condition_of

        condition_of(monitor)
        return
    check_threshold(monitor.event, monitor.threshold)


def check_countable(model: PmuModel, event: Event) -> None:
    """PfmonError for an event whose signal nothing produces."""
    if not event.is_modelled:
        raise PfmonError(f"{event.name} is not modelled: {event.reason}")
    if not is_produced(event.signal):
        meaning = signals()[event.signal].meaning
        raise PfmonError(f"{event.name} cannot be counted: the processor's model does not record {meaning}")


def check_threshold(event: Event, threshold: int) -> None:
    """PfmonError for a threshold on an event without per-cycle increments."""
    if not threshold:
        return
    signal = event.signal
    meaning = machine_signals.meanings().get(signal)
    if meaning and meaning.kind in NO_CYCLE:
        reason = "the machine records sums of lost bundles, not those of single cycles"
    elif not meaning and signal not in MOVED and signal not in MARKED and not _is_weighed_alone(signal):
        reason = "in which cycle it happens is not recorded"
    else:
        return
    raise PfmonError(f"--event-thresholds: {event.name} takes no threshold here: {reason}")


def _is_weighed_alone(signal: str) -> bool:
    """Whether instructions produce a signal, and not marks, whose cycle is unknown."""
    own = signal_terms.terms().get(signal, ())
    sources = {term.source for term in own}
    return signal_terms.INSTRUCTION in sources and (signal_terms.MARK not in sources or signal in FAILED_CHECKS)
