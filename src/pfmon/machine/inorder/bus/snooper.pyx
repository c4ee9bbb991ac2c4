"""Snooper of bus requests. The base class has no lines."""

from libc.stdint cimport int64_t, uint64_t


cdef class Snooper:
    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches, int64_t now) noexcept nogil:
        return INVALID
