"""The paths of a stream, by number; see path_table.pxd."""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset


cdef enum:
    INITIAL_PATHS = 1 << 10


@cython.final
cdef class PathTable:
    """Paths that a writer of a stream has named. Readers see each of them before its first word."""

    def __dealloc__(self):
        free(self.heads)
        free(self.words)

    cdef bint room(self, uint64_t blocks) noexcept nogil:
        """Make room for another path, of so many blocks; False: out of memory."""
        cdef PathHead* heads
        cdef uint64_t* words
        if self.count == self.capacity:
            heads = <PathHead*>realloc(self.heads, 2 * max(<uint64_t>INITIAL_PATHS, self.capacity) * sizeof(PathHead))
            if heads == NULL:
                return False
            self.heads, self.capacity = heads, 2 * max(<uint64_t>INITIAL_PATHS, self.capacity)
        if self.words_used + blocks > self.words_capacity:
            words = <uint64_t*>realloc(self.words, 2 * (self.words_capacity + INITIAL_PATHS) * sizeof(uint64_t))
            if words == NULL:
                return False
            self.words, self.words_capacity = words, 2 * (self.words_capacity + INITIAL_PATHS)
        return True

    cdef PathHead* enter(self, const uint64_t* before, uint64_t blocks, uint64_t block) noexcept nogil:
        cdef PathHead* head
        if not self.room(blocks + 1):
            return NULL
        head = &self.heads[self.count]
        memset(head, 0, sizeof(PathHead))
        head.first, head.blocks = self.words_used, <uint32_t>(blocks + 1)
        memcpy(self.words + self.words_used, before, blocks * sizeof(uint64_t))
        self.words[self.words_used + blocks] = block
        self.words_used += blocks + 1
        self.count += 1
        return head
