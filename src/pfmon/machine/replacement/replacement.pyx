"""Replacement policies: the base class. A policy is a subclass in a file of its own (replacement_*.pyx)."""

from libc.stdlib cimport calloc, free

cdef enum:
    WORD_BITS = 1 << WORD_SHIFT


cdef class ReplacementPolicy:
    """For ``sets`` x ``ways`` entries. The base class chooses the first way, and keeps no state.

    A subclass sets in its ``__cinit__`` what a use changes (`recency`): a stamp or a bit per entry, for which the base
    class has the memory, or state of its own.
    """

    def __cinit__(self, sets: int, ways: int):
        self.recency = RECENCY_NONE
        self.sets, self.ways = sets, ways
        self.way_shift = (ways - 1).bit_length()
        self.words = (ways + WORD_BITS - 1) // WORD_BITS
        self.stamps = <uint64_t*>calloc(sets << self.way_shift, sizeof(uint64_t))
        self.bits = <uint64_t*>calloc(sets * self.words, sizeof(uint64_t))
        if self.stamps == NULL or self.bits == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.stamps)
        free(self.bits)

    cdef void touch(self, uint64_t entry) noexcept nogil:
        pass

    cdef uint64_t victim(self, uint64_t chosen_set) noexcept nogil:
        return 0

    cdef void clear(self, uint64_t entry) noexcept nogil:
        pass

    cdef void put_unused(self, uint64_t entry) noexcept nogil:
        pass
