"""Totals of a machine's records: each record's count times its increments (record_counts.pyx)."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine._machine cimport Records, Totals
from pfmon.stream._stream cimport BlockTable

from pfmon.signals.machine_signals import level_function


def level_total(levels, term, threshold=0):
    """Sums a level's function over all cycles; with a threshold counts the cycles in which it is greater."""
    function = level_function(term)
    histogram = levels[function.level]
    values = [(function.of(value, len(histogram) - 1), cycles) for value, cycles in enumerate(histogram)]
    if threshold:
        return sum([cycles for value, cycles in values if value > threshold])
    return sum([value * cycles for value, cycles in values])


@cython.final
cdef class MachineTotals:
    """As of the machine's `update_records` or `finish`; ``event_sets``: the event sets included, None: all."""

    cdef RecordCounts counts

    def __cinit__(self, machine, queries, Increments increments, BlockTable table, int stack_rate):
        self.counts = RecordCounts(queries, increments, table, machine.records, stack_rate)

    def add(self, CountAccumulator sink, event_sets=None):
        """Adds the monitors' counts to a sink."""
        cdef RecordCounts counts = self.counts
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
