"""One IA-64 processor, the steps of the loop that drives its blocks, and their translation."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockTable, Consumer

cdef class Processor:
    cdef Cpu* cpu
    cdef BlockCache* blocks
    cdef uint64_t* buffer
    cdef uint64_t* buffer_end
    cdef readonly AddressSpace memory
    cdef readonly BlockTable table
    cdef readonly bint traced
    cdef uint64_t stop_at
    cdef uint64_t exact_at               # as stop_at, also within a block
    cdef uint64_t polls
    cdef object raised                   # exception of a signal handler while the program ran
    cdef uint64_t* next_limit(self, uint64_t exact) noexcept nogil
    cdef void poll(self) noexcept nogil
    cdef int drive(self, Consumer consumer, bint single) noexcept nogil

cdef enum ExitReason:            # why Processor.run returned
    WHY_BREAK = 1
    WHY_FAULT = 2
    WHY_STOP = 3
    WHY_PMD = 4
    WHY_CHECK = 5                # a machine check: system mode

cdef void write_marks(Cpu* cpu) noexcept nogil
cdef Block* next_block(Cpu* cpu, BlockCache* blocks) noexcept nogil
cdef int handle_status(Cpu* cpu, BlockCache* blocks, int status) noexcept nogil
cdef int run_block(Cpu* cpu, Block* block) noexcept nogil

cdef int run_checked(Cpu* cpu, Block* block, uint32_t first, uint32_t end) noexcept nogil

cdef bint always_illegal(Block* block, Instruction* ins) noexcept nogil
cdef Block* translate(Cpu* cpu, BlockCache* blocks, uint64_t ip, const BlockPlace* place) noexcept nogil
cdef void leave_block_at(Cpu* cpu, BlockCache* blocks, uint32_t length, uint32_t kind) noexcept nogil
cdef uint64_t following(Block* block, uint32_t index) noexcept nogil
cdef int drive_system(Processor self, Consumer consumer, bint single) noexcept nogil

cdef size_t handler_origin() noexcept nogil
cdef int load_handlers() except -1
