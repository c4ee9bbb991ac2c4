"""Increments of a run of a block: see block_increments.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._machine cimport DataRanges, ObservedBlock, RecordObserver
from pfmon.stream._stream cimport BlockTable

cdef enum:
    MAX_MONITORS = 32
    NODES = 1 << 14              # a power of two
    HEAD = 2                     # words before the sums of an entry of the tables below


cdef class BlockIncrements(RecordObserver):
    cdef BlockTable table
    cdef Increments increments
    cdef RecordCounts cycles     # None: no machine
    cdef CountAccumulator scratch  # increments of one record
    cdef readonly uint32_t monitors
    cdef bint traced, ranged     # the stream has addresses; a monitor depends on data ranges
    cdef DataRanges ranges
    cdef uint64_t mark_kinds     # that some monitor counts
    cdef uint64_t* words         # by hash: word, its instructions, and the increments of a run with it, by monitor
    cdef uint64_t* nodes         # by hash: node, generation, and the increments of a run of it

    @cython.final
    cdef int describe(self, Increments increments, ranges, RecordCounts cycles) except -1
    @cython.final
    cdef uint64_t read_block(self, const uint64_t* words, uint64_t count, ObservedBlock* to) noexcept nogil
    @cython.final
    cdef const int64_t* of_word(self, uint64_t word) noexcept nogil
    @cython.final
    cdef const int64_t* of_node(self, const ObservedBlock* block) noexcept nogil
    @cython.final
    cdef void add_instruction(self, uint64_t word, uint32_t i, uint64_t address, int64_t* sums) noexcept nogil
    @cython.final
    cdef void add_ranged(self, uint64_t word, const uint64_t* addresses, int64_t* sums) noexcept nogil
    @cython.final
    cdef void add_mark(self, uint64_t block, uint64_t word, const uint64_t* addresses, const uint64_t* marks,
                       uint64_t count, uint64_t k, int64_t* sums) noexcept nogil
    @cython.final
    cdef void add_item(self, const uint32_t* item, int64_t* sums) noexcept nogil
    @cython.final
    cdef bint inside(self, uint64_t number, uint64_t word, const uint64_t* addresses,
                     uint64_t instruction) noexcept nogil
