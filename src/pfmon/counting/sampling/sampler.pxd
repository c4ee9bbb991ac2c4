"""Overflow handling of a driver: see sampler.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


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
    cdef public object extra     # None, or a function that returns (registers, calls) for
                                 # `SampleListener.on_sample_extra`

    cdef int64_t load(self, uint32_t counter, bint after_full) noexcept nogil
    cdef bint add_extra(self) noexcept nogil
    cdef bint overflow(self, uint64_t wrapped, uint64_t address, uint64_t stamp, uint64_t retired,
                       const int64_t* counted, int64_t* left) noexcept nogil
