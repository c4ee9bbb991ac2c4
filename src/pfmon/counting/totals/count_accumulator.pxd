"""Accumulates increments: sums, and optionally the same by place."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BANKS, BlockTable

cdef enum:
    NOBODY = 255                 # instead of an instruction's number: none of the block


cdef struct AccumulatorWalk:     # over all instructions that counted something
    uint32_t bank, instruction
    uint64_t number, block, address
    const int64_t* row


@cython.final
cdef class CountAccumulator:
    cdef readonly uint32_t monitors
    cdef int64_t* sums
    cdef BlockTable table
    cdef bint by_place
    cdef int64_t** rows[BANKS]   # by number of the block: monitors by instruction, one row more for NOBODY
    cdef uint64_t known[BANKS]
    cdef int64_t* nowhere        # counts of no block
    cdef bint failed

    cdef void place(self, uint32_t monitor, uint32_t block, uint32_t instruction, int64_t increment) noexcept nogil
    cdef object counts_at(self, const int64_t* row)
    cdef uint32_t file_of(self, const AccumulatorWalk* walk) noexcept nogil
    cdef bint next_row(self, AccumulatorWalk* walk) noexcept nogil


cdef inline void add(CountAccumulator sink, uint32_t monitor, uint32_t block, uint32_t instruction,
                     int64_t increment) noexcept nogil:
    """Adds to a monitor's count, at an instruction of a block."""
    if increment:
        sink.sums[monitor] += increment
        if sink.by_place:
            sink.place(monitor, block, instruction, increment)
