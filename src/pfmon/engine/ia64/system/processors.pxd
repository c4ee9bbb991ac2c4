"""The processors of one system, which share its memory."""

from libc.stdint cimport uint32_t, uint64_t

cdef void flush_others(Cpu* cpu) noexcept nogil
cdef void forget_written_code(Cpu* cpu, BlockCache* blocks) noexcept nogil
cdef void purge_core(Cpu* cpu) noexcept nogil
cdef void purge_everywhere(Cpu* cpu, uint64_t address, uint32_t bits, bint alat) noexcept nogil
