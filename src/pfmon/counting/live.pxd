"""Counting while the program runs: see live.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.counting.block_increments cimport MOST_MONITORS, BlockIncrements
from pfmon.counting.call_stack cimport CallStack
from pfmon.machine.items cimport BlockItems


cdef class Live(BlockIncrements):
    cdef bint frozen
    cdef readonly uint64_t retired
    cdef int64_t counted[MOST_MONITORS]
    cdef int64_t left[MOST_MONITORS]     # increments until the counter wraps
    cdef uint64_t last
    cdef CallStack calls         # or None
    cdef const uint64_t* behind  # words that it has still to read; NULL: it gets block by block
    cdef object on_overflow
    cdef readonly object error

    cdef void take_block(self, const BlockItems* block) noexcept nogil
    cdef uint64_t pass_whole(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef bint fits(self, const int64_t* sums) noexcept nogil
    cdef void commit(self, const int64_t* sums) noexcept nogil
    cdef void step(self, const int64_t* sums, uint64_t address) noexcept nogil
    cdef void pass_by(self, const BlockItems* block) noexcept nogil
    cdef void take_item(self, const uint32_t* item) noexcept nogil
    cdef uint64_t place_of(self, uint32_t item) noexcept nogil
    cdef void take_apart(self, const BlockItems* block) noexcept nogil
