"""Overflow handling of a driver, and its listeners: see sampler.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef struct Sampled:
    uint64_t iip                 # address | slot of the instruction that caused an overflow, 0: none
    uint64_t stamp               # cycles of the machine; without one retired instructions
    uint64_t retired             # retired instructions
    uint64_t overflowed          # a bit for each PMD
    int64_t last                 # the period that ended
    uint32_t event_set
    uint32_t values              # counters without a period
    const uint32_t* pmds         # ... their numbers
    const int64_t* counts        # ... and their counts


cdef class SampleListener:
    """Listener for samples while a program runs, without the GIL: the base class for listeners in Cython."""

    cdef readonly object error   # raised by a listener in Python; ends sampling

    # Called with each sample, which is valid during the call; returns whether a buffer is full: long periods follow.
    cdef bint on_sample(self, const Sampled* sample) noexcept nogil
    # Whether the next sample is refused.
    cdef bint refuses(self) noexcept nogil


cdef enum:
    MAX_SAMPLED_COUNTERS = 32

cdef struct SampledCounter:
    uint32_t pmd
    bint sampled                 # it has a period
    bint reset                   # it has no period, and restarts at 0 with every sample
    int64_t long_period, short_period
    uint64_t mask, random        # of the random part of a period: its bits, and the generator's state
    int64_t loaded               # the period in force, the random part included
    int64_t marked               # count when `since` began


@cython.final
cdef class Sampler:
    cdef SampleListener listener
    cdef uint32_t count, event_set, values
    cdef SampledCounter counters[MAX_SAMPLED_COUNTERS]
    cdef uint32_t value_pmds[MAX_SAMPLED_COUNTERS]
    cdef uint32_t value_counters[MAX_SAMPLED_COUNTERS]
    cdef int64_t limit           # a counter overflows at it
    # Of the sample that `extra` is for: address | slot, and a bit for each PMD that overflowed.
    cdef readonly uint64_t address, overflowed
    cdef public object extra     # None, or a function that returns (registers, calls) for
                                 # `SampleListener.on_sample_extra`

    cdef int64_t load(self, uint32_t counter, bint after_full) noexcept nogil
    cdef bint add_extra(self) noexcept nogil
    cdef bint overflow(self, uint64_t wrapped, uint64_t address, uint64_t stamp, uint64_t retired,
                       const int64_t* counted, int64_t* left) noexcept nogil


# The Park-Miller generator (Communications of the ACM 31(10), 1988), as in perfmon's kernel module.

cdef enum:
    RANDOM_FACTOR = 16807
    RANDOM_MODULUS = 2147483647


cdef inline uint64_t next_random(uint64_t seed) noexcept nogil:
    """Returns the number after ``seed``, which is not 0."""
    return RANDOM_FACTOR * seed % RANDOM_MODULUS
