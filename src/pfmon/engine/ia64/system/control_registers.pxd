"""Control registers (volume 2, 3.3.5)."""

from libc.stdint cimport uint32_t, uint64_t

cdef int check_cr(Cpu* cpu, uint32_t number, bint write) noexcept nogil
cdef int write_cr(Cpu* cpu, uint32_t number, uint64_t value, uint64_t retired) noexcept nogil
cdef uint64_t read_cr(Cpu* cpu, uint32_t number) noexcept nogil
