"""Paths: blocks that executed one behind the other, which one word of a stream stands for (docs/dev/stream.md)."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    PATH_BIT = 1 << 30           # in the number of a word: it is that of a path

cdef struct PathHead:
    uint64_t first               # of its blocks' words
    uint32_t blocks
    uint32_t addresses           # that follow its word in a traced stream
    uint32_t instructions
    uint32_t counter             # the number of the counter of its runs, if it has one


@cython.final
cdef class PathTable:
    cdef PathHead* heads         # by number
    cdef uint64_t* words         # of all paths' blocks: those of a stream, but for the conditions of each path's last
    cdef uint64_t count, capacity, words_used, words_capacity

    cdef bint room(self, uint64_t blocks) noexcept nogil
    # Enters a path: the words of `blocks` blocks, which lie outside of the table, then a block. Its numbers of addresses and
    # instructions are the caller's to set; NULL: out of memory.
    cdef PathHead* enter(self, const uint64_t* before, uint64_t blocks, uint64_t block) noexcept nogil
