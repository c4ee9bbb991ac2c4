"""NRU: the first line that was not recently used is the victim (Montecito manual, table 2-9: L2, L3)."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


@cython.final
cdef class NruPolicy(ReplacementPolicy):
    """One bit per entry: a use sets it, and if it was the last clear one of its set, clears the others."""

    cdef uint64_t last_word      # all bits of a set's last word

    def __cinit__(self, sets: int, ways: int):
        self.recency = RECENCY_BIT
        self.last_word = (1 << (ways - WORD_BITS * (self.words - 1))) - 1

    cdef void touch(self, uint64_t entry) noexcept nogil:
        cdef uint64_t* words = &self.bits[(entry >> self.way_shift) * self.words]
        cdef uint64_t* word = word_of(self, entry)
        cdef uint32_t other
        word[0] |= bit_of(self, entry)
        if self.all_used(words):
            for other in range(self.words):
                words[other] = 0
            word[0] = bit_of(self, entry)

    cdef uint64_t victim(self, uint64_t chosen_set) noexcept nogil:
        """Returns the first way whose bit is clear; the last way if none is."""
        cdef const uint64_t* words = &self.bits[chosen_set * self.words]
        cdef uint64_t last = self.ways - 1
        cdef uint32_t word = 0
        while word < self.words - 1 and not ~words[word]:
            word += 1
        if not ~words[word]:
            return last
        return min(last, <uint64_t>word * WORD_BITS + trailing_zeros(~words[word]))

    cdef void clear(self, uint64_t entry) noexcept nogil:
        word_of(self, entry)[0] &= ~bit_of(self, entry)

    cdef bint all_used(self, const uint64_t* words) noexcept nogil:
        """Whether the bits of a set are all set."""
        cdef uint32_t word
        for word in range(self.words - 1):
            if ~words[word]:
                return 0
        return words[self.words - 1] == self.last_word
