"""Translation of bundles into blocks of operations."""

from libc.stdint cimport uint64_t


cdef bint always_illegal(Block* block, Instruction* ins) noexcept nogil
cdef Block* translate(Cpu* cpu, BlockCache* blocks, uint64_t ip) noexcept nogil
