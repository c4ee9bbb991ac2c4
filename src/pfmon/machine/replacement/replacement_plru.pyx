"""PLRU: a binary tree of bits for each set points away from the used lines."""

cimport cython
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free


@cython.final
cdef class PlruPolicy(ReplacementPolicy):
    """Ways are a power of two (figure_checks.py). Bit n of a tree has the children 2n and 2n + 1; the root is 1."""

    cdef uint64_t* trees         # by set

    def __cinit__(self, sets: int, ways: int):
        self.recency = RECENCY_OTHER
        self.trees = <uint64_t*>calloc(sets, sizeof(uint64_t))
        if self.trees == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.trees)

    cdef void touch(self, uint64_t entry) noexcept nogil:
        """Sets the bits on the path to ``entry`` to point away."""
        cdef uint64_t* tree = &self.trees[entry >> self.way_shift]
        cdef uint64_t node = 1, size = self.ways
        while size > 1:
            size >>= 1
            if entry & size:
                tree[0] &= ~(<uint64_t>1 << node)
                node = 2 * node + 1
            else:
                tree[0] |= <uint64_t>1 << node
                node = 2 * node

    cdef uint64_t victim(self, uint64_t chosen_set) noexcept nogil:
        """Returns the way at the end of the bits' path."""
        cdef uint64_t tree = self.trees[chosen_set], node = 1, size = self.ways, way = 0
        while size > 1:
            size >>= 1
            if tree >> node & 1:
                way |= size
                node = 2 * node + 1
            else:
                node = 2 * node
        return way
