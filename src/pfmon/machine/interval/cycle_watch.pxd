"""Who looks at every cycle of an out-of-order machine: counters with a condition on what a cycle adds."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef class CycleWatch:
    cdef public CycleWatch following     # another one that looks at the same cycles

    # An instruction dispatched in the cycle at hand.
    cdef void dispatched(self, uint64_t block, uint32_t instruction, uint64_t word) noexcept nogil
    # Something happened to an instruction in it.
    cdef void happened(self, uint64_t block, uint32_t instruction, uint32_t occurrence, uint64_t times) noexcept nogil
    # The cycle ends: the counters, as bits, that count it. The first one's occurrence is `occurrence`.
    cdef uint64_t end_cycle(self) noexcept nogil
    # A cycle in which nothing dispatched or happened.
    cdef uint64_t idle_cycle(self) noexcept nogil
    cdef uint32_t occurrence(self) noexcept nogil
