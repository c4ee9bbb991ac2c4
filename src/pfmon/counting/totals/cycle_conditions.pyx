"""Counters of cycles in which enough events happen: CMASK, INV and E of Intel's event select registers.

A condition holds in a cycle that adds CMASK or more to the counter's event (INV: less); with E the counter counts
cycles in which it holds and did not in the one before (Intel SDM volume 3 section 30.2.1.1). Such a cycle is recorded
as an occurrence of its own for each counter, at the instruction that ended it, and counted like any other occurrence.
"""

cimport cython
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from pfmon.machine._machine cimport CYCLE_COUNTED, CycleListener
from pfmon.stream._stream cimport BlockInstruction, BlockTable, executed

cpdef enum:
    MAX_CYCLE_CONDITIONS = 8     # of a PMU

FIRST_OCCURRENCE = int(CYCLE_COUNTED)

cdef struct Condition:
    bint watched                 # the counter has a condition
    bint every_cycle             # its event is the cycle itself
    bint invert, edge
    uint64_t least               # CMASK
    uint64_t occurrences[SET_WORDS]
    uint64_t sum                 # of the current cycle
    bint held                    # in the cycle before


@cython.final
cdef class CycleConditions(CycleListener):
    """``conditions``: by monitor (least, invert, edge, occurrences, every cycle) or None; ``increments``: the weights
    and filters of the same monitors; ``owner``: number of the PMU. ValueError: too many monitors."""

    cdef Condition conditions[MAX_CYCLE_CONDITIONS]
    cdef Increments increments
    cdef BlockTable table
    cdef uint32_t count, first

    def __cinit__(self, conditions, Increments increments, BlockTable table, uint32_t owner):
        cdef uint32_t number
        if len(conditions) > MAX_CYCLE_CONDITIONS:
            raise ValueError(f"{len(conditions)} counters: {MAX_CYCLE_CONDITIONS} can have conditions")
        self.increments, self.table, self.count = increments, table, len(conditions)
        self.first = CYCLE_COUNTED + owner * MAX_CYCLE_CONDITIONS
        memset(self.conditions, 0, sizeof(self.conditions))
        for number, given in enumerate(conditions):
            if given is None:
                continue
            self.conditions[number].watched = True
            self.conditions[number].least, self.conditions[number].invert = max(1, given.least), given.invert
            self.conditions[number].edge, self.conditions[number].every_cycle = given.edge, given.every_cycle
            for occurrence in given.occurrences:
                self.conditions[number].occurrences[occurrence >> 6] |= <uint64_t>1 << (occurrence & 63)

    cdef uint32_t occurrence(self) noexcept nogil:
        return self.first

    cdef uint64_t passing(self, uint64_t block, uint32_t instruction) noexcept nogil:
        cdef uint64_t place = self.table.c.heads[block].first + instruction
        return self.increments.passing(&self.table.c.instructions[place],
                                       self.table.c.payloads + place * self.table.c.header.payload_bytes)

    cdef void dispatched(self, uint64_t block, uint32_t instruction, uint64_t word) noexcept nogil:
        cdef const BlockInstruction* one = &self.table.c.instructions[self.table.c.heads[block].first + instruction]
        cdef uint64_t passing = self.passing(block, instruction)
        cdef Weight weight
        cdef uint32_t m
        for m in range(self.count):
            if self.conditions[m].watched and (passing >> self.increments.counted[m].filter) & 1:
                weight = self.increments.increment_of(m, one, False)
                self.conditions[m].sum += <uint64_t>(
                    weight.retired + (weight.executed if executed(word, one.condition) else 0))

    cdef void add_occurrence(self, uint64_t block, uint32_t instruction, uint32_t occurrence,
                             uint64_t times) noexcept nogil:
        cdef uint64_t passing = self.passing(block, instruction)
        cdef uint32_t m
        for m in range(self.count):
            if (self.conditions[m].occurrences[occurrence >> 6] >> (occurrence & 63)) & 1 \
                    and (passing >> self.increments.counted[m].filter) & 1:
                self.conditions[m].sum += times

    cdef uint64_t end_cycle(self) noexcept nogil:
        cdef uint64_t counting = 0
        cdef uint32_t m
        for m in range(self.count):
            if self.conditions[m].watched:
                counting |= <uint64_t>evaluate(&self.conditions[m], self.conditions[m].sum) << m
                self.conditions[m].sum = 0
        return counting

    cdef uint64_t idle_cycle(self) noexcept nogil:
        cdef uint64_t counting = 0
        cdef uint32_t m
        for m in range(self.count):
            if self.conditions[m].watched:
                counting |= <uint64_t>evaluate(&self.conditions[m], 0) << m
        return counting


cdef bint evaluate(Condition* one, uint64_t sum) noexcept nogil:
    """Whether the counter counts a cycle that adds so much."""
    cdef bint holds = (sum + one.every_cycle >= one.least) != one.invert, before = one.held
    one.held = holds
    return holds and not (one.edge and before)
