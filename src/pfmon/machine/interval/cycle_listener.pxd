"""Listener for every cycle of an out-of-order machine: counters with a condition on a cycle's increment."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef class CycleListener:
    cdef public CycleListener following  # another listener for the same cycles

    # An instruction dispatched in the current cycle.
    cdef void dispatched(self, uint64_t block, uint32_t instruction, uint64_t word) noexcept nogil
    # An event of an instruction in it.
    cdef void add_occurrence(self, uint64_t block, uint32_t instruction, uint32_t occurrence,
                             uint64_t times) noexcept nogil
    # Ends the cycle; returns the counters that count it, as bits. `occurrence`: the occurrence of counter 0.
    cdef uint64_t end_cycle(self) noexcept nogil
    # A cycle without dispatches and events.
    cdef uint64_t idle_cycle(self) noexcept nogil
    cdef uint32_t occurrence(self) noexcept nogil
