"""Interrupts of counter overflows: see overflow_interrupts.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._machine cimport ObservedBlock


cdef class OverflowInterrupts(BlockIncrements):
    cdef bint frozen
    cdef readonly uint64_t retired
    cdef int64_t counted[MAX_MONITORS]
    cdef int64_t left[MAX_MONITORS]      # increments until the counter wraps
    cdef uint64_t off            # monitors whose counters are off: they wait for another one
    cdef uint64_t waiting_for_others     # ... once the trigger has fired
    cdef uint64_t trigger        # bit of a monitor that is no counter of the PMU: all others wait for it; 0: none
    cdef readonly bint triggered # the trigger has fired
    cdef uint64_t until          # bit of a monitor, armed by the trigger: its overflow stops all counting; 0: none
    cdef readonly bint stopped   # it has fired
    cdef uint32_t counters       # monitors that are counters of the PMU
    cdef bint within             # an instruction and its events: counting begins after it
    cdef uint64_t last
    cdef CaptureUnits captures   # or None
    # between an overflow and its interrupt
    cdef int64_t least_skid      # cycles
    cdef int64_t skid            # ... and no less than the IP-EAR's delay; 0: no skid
    cdef bint sliding            # an interrupt is pending
    cdef int64_t due             # cycles until it is taken
    cdef int64_t tracing         # ... until the IP-EAR freezes
    cdef bint arrived            # it is due, and waits for a bundle to begin
    cdef bint issuing            # ... its cycles are counted from the one after the overflow's
    cdef uint64_t begun          # instructions retired before the current block
    cdef uint32_t shown          # records of the current block replayed to the IP-EAR ...
    cdef uint32_t issued         # ... instructions that issued in them
    cdef bint resumed            # an interrupt was taken in the current block: counting resumes at ...
    cdef uint32_t from_item      # ... a record,
    cdef uint32_t from_time      # ... after so many times of it,
    cdef uint32_t from_instruction       # ... an instruction
    cdef uint64_t waiting        # monitors whose counters have wrapped
    # time, in the machine's cycles
    cdef uint64_t time           # cycles recorded up to the current position in the block
    cdef uint32_t ahead          # 1: within the cycle after them
    cdef readonly uint64_t stamp # of the reported overflow; without a machine retired instructions
    cdef object on_overflow
    cdef Sampler sampler         # handles overflows instead; or None
    cdef readonly object error

    @cython.final
    cdef uint64_t cycles_of(self, const uint32_t* item) noexcept nogil
    @cython.final
    cdef uint64_t time_at(self, const ObservedBlock* block, uint32_t place, uint32_t times) noexcept nogil
    @cython.final
    cdef bint fits(self, const int64_t* sums) noexcept nogil
    @cython.final
    cdef void commit(self, const int64_t* sums) noexcept nogil
    @cython.final
    cdef bint step(self, const int64_t* sums, uint64_t address) noexcept nogil
    @cython.final
    cdef uint64_t place_of(self, uint32_t item) noexcept nogil
    @cython.final
    cdef void set_off(self) noexcept nogil
    @cython.final
    cdef void call(self, uint64_t wrapped, uint64_t address, uint64_t retired) noexcept nogil
    @cython.final
    cdef void slide(self, const ObservedBlock* block, uint32_t first, uint32_t used, uint32_t behind) noexcept nogil
    @cython.final
    cdef bint slide_along(self, const uint32_t* items, uint32_t count, uint32_t base, uint32_t first, uint32_t used,
                          uint32_t behind, uint64_t block, uint32_t* issued) noexcept nogil
    @cython.final
    cdef void disable(self) noexcept nogil
    @cython.final
    cdef bint is_switch(self, const uint32_t* item) noexcept nogil
    @cython.final
    cdef void trace_item(self, const uint32_t* item) noexcept nogil
    @cython.final
    cdef void trace_until(self, const ObservedBlock* block, uint32_t behind) noexcept nogil
    @cython.final
    cdef void trace_items(self, const uint32_t* items, uint32_t count) noexcept nogil
    @cython.final
    cdef bint interrupt(self, const ObservedBlock* block, uint32_t instruction) noexcept nogil
