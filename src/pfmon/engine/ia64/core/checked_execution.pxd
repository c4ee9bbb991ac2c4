"""Execution instruction by instruction."""

from libc.stdint cimport uint32_t


cdef int run_checked(Cpu* cpu, Block* block, uint32_t first, uint32_t end) noexcept nogil
