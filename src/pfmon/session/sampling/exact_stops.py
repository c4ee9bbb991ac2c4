"""How far a processor can run before an overflow interrupt may be due: it stops there, exactly.

An instruction adds a bounded number to an architectural event, so the distance to the overflow by that number is safe;
what is left shrinks with each stop, and the last one is the instruction of the overflow. Cycles have no such bound: an
interrupt that falls into a longer wait is raised some instructions later, as on the processor, where it is external.
"""

from __future__ import annotations

from functools import cache

from pfmon.counting.totals.countable import counts_timing_model
from pfmon.pmu.model.programming import Monitor
from pfmon.session.sampling.poll_interval import WIDEST_ISSUE
from pfmon.signals import machine_signals
from pfmon.signals.signal_terms import MARK, terms

CYCLES = 1024
"""Cycles assumed at the most between two instructions: several accesses to memory one after the other."""
MARKS = 4
"""Marks of a kind that an instruction causes at the most: one for each result or access."""
REGISTERS = 128
"""Registers that the register stack engine moves at the most for an instruction."""
OF_CYCLES = ("cycle", "front", "ideal", "lost", "entrance", "level", "slots", "dispersal")
"""Kinds of machine signals that cycles add to, not instructions."""


def most_per_instruction(monitor: Monitor) -> int:
    """Return the number that an instruction adds to a counter at the most, at least 1."""
    if not counts_timing_model(monitor):
        return most_of_signal(monitor.signal)
    meaning = machine_signals.meanings().get(monitor.signal)
    if meaning and meaning.kind in OF_CYCLES and not monitor.threshold:
        return CYCLES
    return max(1, -(-monitor.event.max_increment // WIDEST_ISSUE))


@cache
def most_of_signal(signal: str) -> int:
    """Return the number that an instruction adds to an architectural signal at the most, at least 1: all its terms
    together."""
    most = 0
    for term in terms().get(signal, ()):
        if term.source == MARK:
            most += MARKS * max(0, term.each) + REGISTERS * max(0, term.low)
        else:
            most += max(0, term.retired, term.retired + term.executed)
    return max(1, most)
