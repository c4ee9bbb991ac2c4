"""An arena allocator: pieces lie side by side in the order of allocation and are freed all at once.

Blocks translated one after the other run one after the other, so they share lines and pages of the host's caches. Many
small mallocs would also cost a thread a system call for every page.
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
