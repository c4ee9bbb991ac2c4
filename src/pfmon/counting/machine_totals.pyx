"""Totals of a machine's records: each record's count times what one of it adds (cycles.pyx)."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.counting.cycles cimport CycleCounts
from pfmon.counting.increments cimport Increments
from pfmon.counting.sink cimport Sink
from pfmon.machine.machine cimport Machine
from pfmon.machine.records cimport Records, Totals
from pfmon.stream.table cimport BlockTable


cdef class MachineTotals:
    """As of the machine's `settle` or `finish`; ``slots``: of which slots, None: of all."""

    cdef CycleCounts counts

    def __cinit__(self, Machine machine, looks, Increments increments, BlockTable table, int stack_rate):
        self.counts = CycleCounts(looks, increments, table, machine.records, stack_rate)

    def add(self, Sink sink, slots=None):
        """Add to a sink what the monitors counted."""
        cdef CycleCounts counts = self.counts
        cdef Records records = counts.records
        cdef Totals parts = records.part_totals(slots), bubbles = records.bubble_totals(slots)
        cdef uint32_t i
        with nogil:
            for i in range(1, records.part_count):
                if parts.counts[i]:
                    counts.add_part(i, <long long>parts.counts[i], sink)
            for i in range(records.bubble_count):
                if bubbles.counts[i]:
                    counts.add_bubble(i, <long long>bubbles.counts[i], sink)
