"""Increments of monitors from machine records: cycles, bubbles, occurrences, dispersal; and thresholds on any event."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._machine cimport Part, Records
from pfmon.stream._stream cimport BlockTable

cdef enum:
    SET_WORDS = 16               # of a set of occurrences
    MAX_DISPERSAL_FIELDS = 8     # of dispersal

cpdef enum QueryKind:            # kind of records that a monitor counts
    NOT_HERE = 0                 # none: architecture alone, or a level
    OCCURRENCES = 1              # each by its instruction
    CYCLES = 2                   # bubbles by cause, and optionally cycles in which something retired
    BUBBLES = 3                  # of another kind, by cause
    DISPERSAL = 4
    SUMS = 5                     # of a cycle's increments: thresholds, bits, qualified cycles

cdef struct CompiledQuery:       # record query of one monitor
    uint32_t way                 # Way
    bint ranged
    uint64_t occurrences[SET_WORDS]
    uint64_t checks[SET_WORDS]   # occurrences of check loads that accessed memory
    bint weighs                  # a cycle adds the weights of its instructions (increments)
    bint occurs                  # ... and their occurrences
    bint moves                   # ... or registers moved by the register stack engine
    bint retiring                # CYCLES: includes those in which something retired
    uint32_t bubbles             # BUBBLES: BubbleKind
    uint64_t causes
    uint32_t fields              # DISPERSAL
    uint32_t shift[MAX_DISPERSAL_FIELDS]
    uint64_t field[MAX_DISPERSAL_FIELDS]
    bint any_field               # count whether there is any, not how many
    int64_t threshold            # 0: none
    uint32_t low
    int64_t mask
    int64_t most                 # maximum of a cycle: the excess is lost; 0: no limit
    bint divided                 # a cycle's increments are attributed to its instructions, not to its end


@cython.final
cdef class RecordCounts:
    cdef Increments increments
    cdef BlockTable table
    cdef Records records
    cdef CompiledQuery* compiled
    cdef int64_t stack_rate
    cdef bint all_open

    cdef void add_part(self, uint32_t number, int64_t times, CountAccumulator sink) noexcept nogil
    cdef void add_bubble(self, uint32_t number, int64_t cycles, CountAccumulator sink) noexcept nogil
    cdef bint passes(self, uint32_t monitor, uint64_t block, uint32_t instruction) noexcept nogil
    cdef void add_occurrences(self, const Part* part, int64_t times, CountAccumulator sink) noexcept nogil
    cdef void add_cycle(self, const Part* part, int64_t times, CountAccumulator sink) noexcept nogil
    cdef void divide(self, uint32_t monitor, const Part* last, int64_t excess, int64_t times,
                     CountAccumulator sink) noexcept nogil
    cdef int64_t part_increment(self, uint32_t monitor, const Part* part, int64_t* excess, int64_t times,
                            CountAccumulator sink) noexcept nogil
    cdef int64_t noted(self, uint32_t monitor, const Part* part, int64_t* excess, int64_t times,
                       CountAccumulator sink) noexcept nogil
    cdef void add_sum(self, uint32_t monitor, const Part* part, int64_t times, CountAccumulator sink) noexcept nogil
    cdef void add_moved(self, uint32_t monitor, const Part* part, int64_t times, CountAccumulator sink) noexcept nogil
