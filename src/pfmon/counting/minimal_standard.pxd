"""The minimal standard generator (Park and Miller, Communications of the ACM 31(10), 1988), which perfmon's kernel uses."""

from libc.stdint cimport uint64_t

cdef enum:
    RANDOM_FACTOR = 16807
    RANDOM_MODULUS = 2147483647


cdef inline uint64_t next_random(uint64_t seed) noexcept nogil:
    """The number behind ``seed``, which is not 0."""
    return RANDOM_FACTOR * seed % RANDOM_MODULUS
