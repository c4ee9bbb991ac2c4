"""Record queries of monitors: signals/machine.csv and the monitor's programming, compiled.

A monitor with a threshold counts cycles in which its event's increment is greater (Montecito manual section 3.2.1.3);
some events are themselves bits of such a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from pfmon.counting._counting import QueryKind
from pfmon.counting.totals.cycle_records import FAILED_CHECKS, MARKED, MOVED, requires_timing_model
from pfmon.errors import PfmonError
from pfmon.machine._machine import BubbleKind, Cause, Dispersal, FrontCause, Occurrence
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import PLM_KERNEL, PLM_USER
from pfmon.signals import machine_signals

DISPERSAL = {
    name.removeprefix("DISPERSAL_"): (int(first), (1 << end - first) - 1)
    for (name, first), (_, end) in pairwise(Dispersal.__members__.items())
}
"""Reason -> shift and mask in a cycle's unused dispersal."""

LOST_BUBBLES = {
    "front": BubbleKind.BUBBLE_FRONT,
    "ideal": BubbleKind.BUBBLE_IDEAL,
    "lost": BubbleKind.BUBBLE_LOST,
    "entrance": BubbleKind.BUBBLE_ENTRANCE,
}
ALL_CAUSES = (1 << 64) - 1
KERNEL_TIME = 1 << int(Cause["KERNEL"])
ALL_BITS = (1 << 62) - 1
CAPTURED = frozenset(Occurrence[f"{what}_CAPTURED"] for what in ("DATA_EAR", "INSTRUCTION_EAR", "BRANCH"))
MAX_OCCURRENCES = 1024
"""Number of bits of a set of occurrences (record_counts.pxd, SET_WORDS)."""
MESI = "ISEM"
"""States by bit of PMC.mesi (Montecito manual table 3-6)."""


class RecordQuery(NamedTuple):
    """A record query (record_counts.Looked). ``signal``: an architectural signal whose weights it adds up."""

    way: int = QueryKind.NOT_HERE
    ranged: bool = False
    signal: str = ""
    occurrences: frozenset[int] = frozenset()
    checks: frozenset[int] = frozenset()
    weighs: bool = False
    occurs: bool = False
    moves: bool = False
    retiring: bool = False
    bubbles: int = 0
    causes: int = 0
    fields: tuple[tuple[int, int], ...] = ()
    any_field: bool = False
    threshold: int = 0
    low: int = 0
    mask: int = ALL_BITS
    most: int = 0
    divided: bool = False


NOTHING_MATCHES = RecordQuery()
"""Query of a monitor of breakpoint register matches that are not programmed."""


@cache
def names(kind: str) -> dict[str, int]:
    """Numbers of the terms of a kind of signals."""
    if kind == "occurrence":
        return {name: int(value) for name, value in Occurrence.__members__.items()}
    if kind == "cycle":
        return {name: int(value) for name, value in Cause.__members__.items() if name != "CAUSES"}
    return {name: int(value) for name, value in FrontCause.__members__.items() if name != "FRONT_CAUSES"}


def occurrences_of(signal: str, states: int | None = None) -> frozenset[int]:
    """Occurrences of a signal; ``states``: only those in the states of a PMC's mesi field."""
    numbers = machine_signals.select(signal, names("occurrence"))
    if states is None:
        return numbers
    wanted = {letter for bit, letter in enumerate(MESI) if states >> bit & 1}
    return frozenset(number for name, number in names("occurrence").items() if number in numbers and name[-1] in wanted)


def of_owner(occurrences: frozenset[int], owner: int) -> frozenset[int]:
    """Replaces the first PMU's captures among the occurrences by those of PMU ``owner``. PfmonError: too many PMUs."""
    if not owner or not occurrences & CAPTURED:
        return occurrences
    if min(CAPTURED) + (owner + 1) * len(CAPTURED) > MAX_OCCURRENCES:
        raise PfmonError(f"{owner + 1} event sets that capture are more than a run can tell apart")
    return frozenset(number + owner * len(CAPTURED) * (number in CAPTURED) for number in occurrences)


def condition_query(owner: int, number: int) -> RecordQuery:
    """Query of a counter with a condition on cycles, evaluated while the machine runs: each counted cycle is an
    occurrence of its own."""
    from pfmon.counting._counting import FIRST_OCCURRENCE, MAX_CYCLE_CONDITIONS

    first = FIRST_OCCURRENCE + owner * MAX_CYCLE_CONDITIONS
    if first + number >= MAX_OCCURRENCES:
        raise PfmonError(f"{owner + 1} event sets with CMASK, INV or E are more than a run can tell apart")
    return RecordQuery(QueryKind.OCCURRENCES, occurrences=frozenset((first + number,)))


def query_of(
    signal: str,
    threshold: int,
    ranged: bool,
    states: int | None,
    owner: int = 0,
    plm: int = PLM_USER,
    most: int = 0,
) -> RecordQuery:
    """Returns the record query of a monitor of a signal; way NOT_HERE: none (architecture, or a level). ``plm``: the
    privilege levels that it counts at (PMC.plm); the operating system's is 0. ``most``: maximum increment of a cycle
    (Montecito manual section 4.2, Max Inc/Cyc), 0: no limit; thresholds apply after it."""
    if not requires_timing_model(signal, threshold) and not most:
        return RecordQuery()
    meaning = machine_signals.meanings().get(signal)
    if meaning is None:
        return _of_architecture(signal, threshold, ranged, most)
    kind, parts = meaning
    match kind:
        case "occurrence":
            found = of_owner(occurrences_of(signal, states), owner)
            way = QueryKind.SUMS if threshold else QueryKind.OCCURRENCES
            return RecordQuery(way, ranged, occurrences=found, occurs=bool(threshold), threshold=threshold, most=most)
        case "cycle":
            return _of_cycles(signal, plm)
        case "front" | "ideal" | "lost" | "entrance":
            return RecordQuery(
                QueryKind.BUBBLES,
                bubbles=int(LOST_BUBBLES[kind]),
                causes=_bits(machine_signals.select(signal, names(kind))),
            )
        case "dispersal":
            return RecordQuery(
                QueryKind.DISPERSAL, fields=_fields(machine_signals.expanded(signal)), threshold=threshold, most=most
            )
        case "stops":
            return RecordQuery(
                QueryKind.SUMS, ranged, signal=parts[0], weighs=True, fields=_fields(parts[1:]), any_field=True
            )
        case "per_cycle":
            whole, high, low = machine_signals.per_cycle(parts[0])
            mask = (1 << high - low + 1) - 1
            return RecordQuery(
                QueryKind.SUMS, ranged, signal=whole, weighs=True, threshold=threshold, low=low, mask=mask
            )
        case "qualified":
            return RecordQuery(QueryKind.SUMS, ranged, signal="inst_retired", weighs=True, most=1)
    return RecordQuery()


def _of_architecture(signal: str, threshold: int, ranged: bool, most: int) -> RecordQuery:
    """Query of a threshold, or a limit, on an event that architecture decides."""
    return RecordQuery(
        QueryKind.SUMS,
        ranged,
        signal=signal,
        weighs=True,
        occurs=signal in MARKED,
        moves=signal in MOVED,
        occurrences=_numbers(MOVED.get(signal) or MARKED.get(signal, ())),
        checks=_numbers(FAILED_CHECKS.get(signal, ())),
        threshold=threshold,
        most=most,
        divided=not threshold,
    )


def _of_cycles(signal: str, plm: int) -> RecordQuery:
    named = machine_signals.named(signal)
    if "CLOCK" in named:
        return RecordQuery()
    user = bool(plm & PLM_USER)
    if "CORE" in named:
        causes = (ALL_CAUSES ^ KERNEL_TIME) * user | KERNEL_TIME * (plm & PLM_KERNEL)
    else:
        causes = _bits(machine_signals.select(signal, names("cycle"))) * user
    return RecordQuery(QueryKind.CYCLES, retiring=user and ("CORE" in named or "RETIRING" in named), causes=causes)


def _fields(parts: Sequence[str]) -> tuple[tuple[int, int], ...]:
    return tuple(DISPERSAL[part] for part in parts)


def _bits(numbers: frozenset[int]) -> int:
    return sum(1 << number for number in numbers)


def _numbers(occurrences: Sequence[str]) -> frozenset[int]:
    return frozenset(int(Occurrence[name]) for name in occurrences)


class Condition(NamedTuple):
    """``least``: minimum increment of a cycle, 0 as 1; ``invert``: less than that; ``edge``: not in the cycle before.
    ``occurrences``: that increment; ``every_cycle``: each cycle increments by one."""

    least: int
    invert: bool
    edge: bool
    occurrences: frozenset[int]
    every_cycle: bool


def condition_of(monitor: Monitor) -> Condition | None:
    """The condition of a counter, if it has one. PfmonError: its event has no per-cycle increments."""
    from pfmon.counting.totals.countable import has_cycles

    if not monitor.conditional:
        return None
    meaning = machine_signals.meanings().get(monitor.signal)
    occurrences: frozenset[int] = frozenset()
    if not has_cycles(monitor):
        raise PfmonError(
            f"{monitor.event.name}: CMASK, INV and E look at single cycles, and only its totals are recorded"
        )
    if meaning and meaning.kind == "occurrence":
        occurrences = occurrences_of(monitor.signal)
    elif meaning and "CORE" not in machine_signals.named(monitor.signal):
        raise PfmonError(
            f"{monitor.event.name}: CMASK, INV and E look at cycles of the core, and this counts those of another clock"
        )
    every_cycle = meaning is not None and not occurrences
    return Condition(monitor.threshold, monitor.invert, monitor.edge, occurrences, every_cycle)
