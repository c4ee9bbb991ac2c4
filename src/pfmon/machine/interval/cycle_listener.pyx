"""The base class of listeners for every cycle: it counts none."""

cdef class CycleListener:
    cdef void dispatched(self, uint64_t block, uint32_t instruction, uint64_t word) noexcept nogil:
        pass

    cdef void add_occurrence(self, uint64_t block, uint32_t instruction, uint32_t occurrence,
                             uint64_t times) noexcept nogil:
        pass

    cdef uint64_t end_cycle(self) noexcept nogil:
        return 0

    cdef uint64_t idle_cycle(self) noexcept nogil:
        return 0

    cdef uint32_t occurrence(self) noexcept nogil:
        return 0
