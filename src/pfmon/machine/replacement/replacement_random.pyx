"""Random replacement, by a generator with a fixed seed (Marsaglia, Xorshift RNGs, 2003)."""

cimport cython
from libc.stdint cimport uint64_t


cdef uint64_t SEED = 0x9E3779B97F4A7C15


@cython.final
cdef class RandomPolicy(ReplacementPolicy):
    """A use changes nothing."""

    cdef uint64_t generator

    def __cinit__(self, sets: int, ways: int):
        self.recency = RECENCY_NONE
        self.generator = SEED

    cdef uint64_t victim(self, uint64_t chosen_set) noexcept nogil:
        self.generator ^= self.generator << 13
        self.generator ^= self.generator >> 7
        self.generator ^= self.generator << 17
        return self.generator % self.ways
