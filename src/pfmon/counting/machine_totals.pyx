"""Totals of a machine's records: each record's count times its increments (cycles.pyx)."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.counting.cycles cimport CycleCounts
from pfmon.counting.increments cimport Increments
from pfmon.counting.sink cimport Sink
from pfmon.machine.records cimport Records, Totals
from pfmon.stream.table cimport BlockTable

from pfmon.signals.machine import level_function


def level_total(levels, term, threshold=0):
    """Sums a level's function over all cycles; with a threshold counts the cycles in which it is greater."""
    function = level_function(term)
    histogram = levels[function.level]
    values = [(function.of(value, len(histogram) - 1), cycles) for value, cycles in enumerate(histogram)]
    if threshold:
        return sum([cycles for value, cycles in values if value > threshold])
    return sum([value * cycles for value, cycles in values])


cdef class MachineTotals:
    """As of the machine's `settle` or `finish`; ``event_sets``: the event sets included, None: all."""

    cdef CycleCounts counts

    def __cinit__(self, machine, looks, Increments increments, BlockTable table, int stack_rate):
        self.counts = CycleCounts(looks, increments, table, machine.records, stack_rate)

    def add(self, Sink sink, event_sets=None):
        """Adds the monitors' counts to a sink."""
        cdef CycleCounts counts = self.counts
        cdef Records records = counts.records
        cdef Totals parts = records.part_totals(event_sets), bubbles = records.bubble_totals(event_sets)
        cdef uint32_t i
        with nogil:
            for i in range(1, records.part_count):
                if parts.counts[i]:
                    counts.add_part(i, <long long>parts.counts[i], sink)
            for i in range(records.bubble_count):
                if bubbles.counts[i]:
                    counts.add_bubble(i, <long long>bubbles.counts[i], sink)
