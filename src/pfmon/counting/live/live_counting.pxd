"""Counting while the program runs: see live_counting.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine._machine cimport ObservedBlock


cdef class LiveCounting(OverflowInterrupts):
    cdef CallStack calls         # or None
    cdef uint32_t taken          # records of the current block already counted
    cdef uint32_t covered        # ... instructions that issued in them
    cdef const uint64_t* behind  # words still to be read; NULL: the machine passes single blocks

    @cython.final
    cdef void count_block(self, const ObservedBlock* block) noexcept nogil
    @cython.final
    cdef uint64_t pass_whole(self, const uint64_t* words, uint64_t count) noexcept nogil
    @cython.final
    cdef void skip_block(self, const ObservedBlock* block) noexcept nogil
    @cython.final
    cdef void collect_captures(self, const ObservedBlock* block, uint32_t instruction) noexcept nogil
    @cython.final
    cdef uint32_t take_item(self, const uint32_t* item, uint32_t place) noexcept nogil
    cdef void count_by_instruction(self, const ObservedBlock* block) noexcept nogil
    @cython.final
    cdef uint64_t issue_time(self, const ObservedBlock* block, uint32_t instruction) noexcept nogil
    @cython.final
    cdef void count_records(self, const ObservedBlock* block, uint32_t beyond, uint32_t instruction) noexcept nogil
