"""The steps of the loop that drives blocks."""

from libc.stdint cimport uint32_t, uint64_t


cdef enum ExitReason:            # why Processor.run returned
    WHY_BREAK = 1
    WHY_FAULT = 2
    WHY_STOP = 3
    WHY_PMD = 4

cdef void write_marks(Cpu* cpu) noexcept nogil
cdef Block* next_block(Cpu* cpu, BlockCache* blocks) noexcept nogil
cdef int handle_status(Cpu* cpu, BlockCache* blocks, int status) noexcept nogil
cdef int run_block(Cpu* cpu, Block* block) noexcept nogil
