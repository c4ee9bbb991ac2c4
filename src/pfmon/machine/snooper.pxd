"""Whom requests on the bus are shown to: see coherence.pyx."""

from libc.stdint cimport int64_t, uint64_t

cdef class Snooper:
    # Another agent asks for the line at ``address``, to have it alone (`invalidate`), or as code (`fetches`), by a request
    # that is on the bus in cycle ``now``: the state in which it was found, which it may not have any more (tags.pxd,
    # State).
    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches, int64_t now) noexcept nogil
