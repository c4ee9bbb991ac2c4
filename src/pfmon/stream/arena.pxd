"""Memory that is given out piece by piece and taken back whole: pieces lie side by side in the order of their making.

Blocks that were translated one after the other run one after the other, so they share lines and pages of the host's
caches. And many small pieces from malloc would cost a thread a system call for every page.
"""

from libc.stdint cimport uint64_t

cdef struct Piece:               # a large piece of the host's memory; its own memory follows
    Piece* next

cdef struct Arena:               # all zero: empty
    Piece* first
    Piece* current
    uint64_t used                # bytes of the current one

cdef void* take(Arena* arena, uint64_t size) noexcept nogil
cdef void take_back(Arena* arena) noexcept nogil
cdef void free_arena(Arena* arena) noexcept nogil
