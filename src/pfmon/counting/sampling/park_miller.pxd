"""The Park-Miller generator (Communications of the ACM 31(10), 1988), as in perfmon's kernel module."""

from libc.stdint cimport uint64_t

cdef enum:
    RANDOM_FACTOR = 16807
    RANDOM_MODULUS = 2147483647


cdef inline uint64_t next_random(uint64_t seed) noexcept nogil:
    """Returns the number after ``seed``, which is not 0."""
    return RANDOM_FACTOR * seed % RANDOM_MODULUS
