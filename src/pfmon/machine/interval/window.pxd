"""The instruction window of an out-of-order core: see window.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t

from pfmon.stream._stream cimport REGISTER_BITS

cdef enum:
    MAX_WAITING_LOADS = 1 << 9   # a power of two
    MAX_WINDOW_STORES = 64

cdef struct WaitingLoad:         # an instruction whose data arrives late
    IntervalBlock* plan
    uint64_t limit               # the first instruction that does not fit into the window that it begins
    int64_t ready
    uint32_t instruction
    uint32_t cause


@cython.final
cdef class Window:
    cdef EventTallies tallies
    cdef uint64_t size           # instructions
    cdef uint64_t dispatched     # so far
    cdef uint64_t first, last    # of those that wait, in program order; equal: none
    cdef int64_t pending         # cycle from which no register is pending
    cdef uint64_t late           # registers that may be pending
    cdef uint64_t late_loads     # accesses of the current block that missed
    cdef uint32_t store_count, next_store
    cdef int64_t registers[REGISTER_BITS]    # cycles in which the pending ones are ready
    cdef int64_t loads[REGISTER_BITS]        # cycles in which the data of the late loads arrives
    cdef int64_t stores[MAX_WINDOW_STORES]  # cycles in which the latest stores that missed are done
    cdef WaitingLoad waiting[MAX_WAITING_LOADS]

    cdef void wait_for(self, IntervalBlock* plan, uint32_t instruction, int64_t ready, uint32_t cause) noexcept nogil
    cdef int64_t dispatch(self, IntervalBlock* plan, int64_t now) noexcept nogil
    cdef int64_t ready(self, const OperandSource* source, int64_t now) noexcept nogil
    cdef void load(self, uint32_t number, int64_t ready) noexcept nogil
    cdef void retire_block(self, const Dataflow* flow, int64_t now) noexcept nogil
    cdef int64_t store(self, int64_t now, int64_t ready) noexcept nogil
