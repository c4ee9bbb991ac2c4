"""Snooper of bus requests. The base class has no lines."""

from libc.stdint cimport int64_t, uint64_t

from pfmon.machine.tag_store cimport INVALID


cdef class Snooper:
    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches, int64_t now) noexcept nogil:
        return INVALID
