"""Reading and writing application registers (SDM volume 1, 3.1.8; volume 3, mov ar)."""

from libc.stdint cimport uint32_t, uint64_t


cdef uint64_t read_ar(Cpu* cpu, uint32_t number) noexcept nogil
cdef int write_ar(Cpu* cpu, uint32_t number, uint64_t value) noexcept nogil
cdef int check_read_ar(Cpu* cpu, uint32_t number, bint memory_unit) noexcept nogil
cdef int check_write_ar(Cpu* cpu, uint32_t number, bint memory_unit) noexcept nogil
