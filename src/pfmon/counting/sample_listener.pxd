"""What is told of samples while a program runs, without the GIL: the base class for listeners in Cython."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef struct Sampled:
    uint64_t iip                 # address | slot of the instruction that made a counter overflow, 0: none
    uint64_t stamp               # cycles of the machine; without one instructions that had retired
    uint64_t retired             # instructions that had retired
    uint64_t overflowed          # a bit for each PMD
    int64_t last                 # the period that ended
    uint32_t event_set
    uint32_t values              # counters without a period
    const uint32_t* pmds         # ... their numbers
    const int64_t* counts        # ... and what they had counted


cdef class SampleListener:
    cdef readonly object error   # what a listener in Python raised; nothing is sampled any more

    # Takes a sample, which is gone afterwards; whether long periods follow (a buffer is full).
    cdef bint take(self, const Sampled* sample) noexcept nogil
    # Whether the next sample is not wanted.
    cdef bint refuses(self) noexcept nogil
