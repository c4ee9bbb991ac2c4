"""An arena allocator: allocations are contiguous, in order, and are freed all at once.

Blocks are translated in the order in which they run, so contiguous blocks share lines of the host's caches and pages of
its TLBs. Many small mallocs would also cost a system call for every page.
"""

from libc.stdint cimport uint64_t

cdef struct ArenaPiece:          # a large allocation from the host; its own memory follows
    ArenaPiece* next

cdef struct Arena:               # all zero: empty
    ArenaPiece* first
    ArenaPiece* current
    uint64_t used                # bytes of the current one

cdef void* arena_alloc(Arena* arena, uint64_t size) noexcept nogil
cdef void arena_reset(Arena* arena) noexcept nogil
cdef void free_arena(Arena* arena) noexcept nogil
