"""Samples kept until a buffer is full: see sample_buffer.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef struct SampleEntry:
    uint64_t iip, stamp, retired, overflowed
    int64_t last
    uint32_t event_set, values
    uint64_t first               # index of its first value
    bint has_more                # it has an entry in `more`


@cython.final
cdef class SampleBuffer(SampleListener):
    cdef uint64_t entries, count, capacity, samples
    cdef bint saturate
    cdef readonly uint64_t lost  # samples dropped for lack of room
    cdef SampleEntry* held
    cdef uint32_t* pmds
    cdef int64_t* values
    cdef uint64_t value_count, value_capacity
    cdef list more               # arguments of `on_sample_extra`, for each sample that has more
    cdef bint has_more           # ... the next sample does
    cdef object make, on_buffer
    cdef readonly bint out_of_memory

    cdef bint room(self, uint32_t values) noexcept nogil
