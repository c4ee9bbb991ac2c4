"""Whom requests on the bus are shown to: see coherence.pyx."""

from libc.stdint cimport uint64_t

cdef class Snooper:
    # Another agent asks for the line at ``address``, to have it alone (`invalidate`), or as code (`fetches`): the state
    # in which it was found, which it may not have any more (tags.pxd, State).
    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches) noexcept nogil
