"""Counts an out-of-order machine's records instruction by instruction: see live_in_order.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.counting.live cimport Live
from pfmon.machine.items cimport BlockItems


cdef class LiveInOrder(Live):
    cdef uint32_t place_in(self, uint32_t item, uint64_t block) noexcept nogil
    cdef void take_what_happened(self, const BlockItems* block, uint32_t place) noexcept nogil
    cdef void add_cycle(self, const BlockItems* block, uint32_t instruction, int64_t* sums) noexcept nogil
