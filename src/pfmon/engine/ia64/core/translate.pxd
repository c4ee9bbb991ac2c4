"""Translation of bundles into blocks of operations."""

from libc.stdint cimport uint64_t

from pfmon.engine.ia64.core.block_cache cimport BlockCache
from pfmon.engine.ia64.core.cpu cimport Block, Cpu, Instruction

cdef bint always_illegal(Block* block, Instruction* ins) noexcept nogil
cdef Block* translate(Cpu* cpu, BlockCache* blocks, uint64_t ip) noexcept nogil
