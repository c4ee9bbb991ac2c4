"""Listener for samples while a program runs, without the GIL: the base class for listeners in Cython."""

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
    cdef readonly object error   # raised by a listener in Python; ends sampling

    # Called with each sample, which is valid during the call; returns whether a buffer is full: long periods follow.
    cdef bint on_sample(self, const Sampled* sample) noexcept nogil
    # Whether the next sample is refused.
    cdef bint refuses(self) noexcept nogil
