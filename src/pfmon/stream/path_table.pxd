"""Paths: blocks that executed one behind the other, which one word of a stream stands for (docs/dev/stream.md)."""

cimport cython
from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef enum:
    PATH_BIT = 1 << 30           # in the number of a word: it is that of a path

cdef struct PathHead:
    uint64_t first               # of its blocks' words
    uint32_t blocks
    uint32_t counter             # the number of the counter of its runs, if it has one

cdef struct BlockSize:           # of a path, or of a block: by itself, since readers need it for each word
    uint16_t addresses           # that follow its word in a traced stream
    uint16_t instructions


@cython.final
cdef class PathTable:
    cdef PathHead* heads         # by number
    cdef BlockSize* sizes        # by number
    cdef BlockSize* block_sizes  # of the blocks of the stream, by number: their writer fills it
    cdef uint64_t block_count    # of these
    cdef uint64_t* words         # of all paths' blocks: those of a stream, but for the conditions of each path's last
    cdef uint64_t count, capacity, words_used, words_capacity

    cdef bint room(self, uint64_t blocks) noexcept nogil
    # Enters a path: the words of `blocks` blocks, which lie outside of the table, then a block. NULL: out of memory.
    cdef PathHead* enter(self, const uint64_t* before, uint64_t blocks, uint64_t block, BlockSize size) noexcept nogil
    # The number of the last block of a path.
    cdef uint64_t last_block(self, uint64_t path) noexcept nogil
