"""The paths of a stream, by number; see path_table.pxd."""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy


cdef enum:
    INITIAL_PATHS = 1 << 10


@cython.final
cdef class PathTable:
    """Paths that a writer of a stream has named. Readers see each of them before its first word."""

    def __dealloc__(self):
        free(self.heads)
        free(self.sizes)
        free(self.block_sizes)
        free(self.words)

    cdef bint room(self, uint64_t blocks) noexcept nogil:
        """Make room for another path, of so many blocks; False: out of memory."""
        cdef uint64_t capacity = 2 * max(<uint64_t>INITIAL_PATHS, self.capacity)
        cdef PathHead* heads
        cdef BlockSize* sizes
        cdef uint64_t* words
        if self.count == self.capacity:
            heads = <PathHead*>realloc(self.heads, capacity * sizeof(PathHead))
            if heads == NULL:
                return False
            self.heads = heads
            sizes = <BlockSize*>realloc(self.sizes, capacity * sizeof(BlockSize))
            if sizes == NULL:
                return False
            self.sizes, self.capacity = sizes, capacity
        if self.words_used + blocks > self.words_capacity:
            words = <uint64_t*>realloc(self.words, 2 * (self.words_capacity + INITIAL_PATHS) * sizeof(uint64_t))
            if words == NULL:
                return False
            self.words, self.words_capacity = words, 2 * (self.words_capacity + INITIAL_PATHS)
        return True

    cdef uint64_t last_block(self, uint64_t path) noexcept nogil:
        return self.words[self.heads[path].first + self.heads[path].blocks - 1] & BLOCK_MASK

    cdef PathHead* enter(self, const uint64_t* before, uint64_t blocks, uint64_t block, BlockSize size) noexcept nogil:
        cdef PathHead* head
        if not self.room(blocks + 1):
            return NULL
        head = &self.heads[self.count]
        head.first, head.blocks, head.counter = self.words_used, <uint32_t>(blocks + 1), 0
        self.sizes[self.count] = size
        memcpy(self.words + self.words_used, before, blocks * sizeof(uint64_t))
        self.words[self.words_used + blocks] = block
        self.words_used += blocks + 1
        self.count += 1
        return head
