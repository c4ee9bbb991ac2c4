"""Counts an out-of-order machine's records instruction by instruction: see live_per_instruction.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._machine cimport ObservedBlock


@cython.final
cdef class LivePerInstruction(LiveCounting):
    cdef uint32_t place_in(self, uint32_t item, uint64_t block) noexcept nogil
    cdef void collect_events(self, const ObservedBlock* block, uint32_t place) noexcept nogil
    cdef void add_cycle(self, const ObservedBlock* block, uint32_t instruction, int64_t* sums) noexcept nogil
