"""External interrupts and the interval timer (volume 2, 5.8 and 3.3.4)."""

from libc.stdint cimport uint32_t, uint64_t

cdef void pend(Cpu* cpu, uint32_t vector) noexcept nogil
cdef int deliverable(SystemState* system) noexcept nogil
cdef uint64_t read_ivr(Cpu* cpu) noexcept nogil
cdef void end_of_interrupt(Cpu* cpu) noexcept nogil
cdef void set_timer(Cpu* cpu, uint64_t retired) noexcept nogil
cdef void timer_matched(Cpu* cpu) noexcept nogil
cdef bint waits_for_clock(Cpu* cpu, Op* op, bint writes) noexcept nogil
cdef bint is_vector(uint32_t vector) noexcept nogil
