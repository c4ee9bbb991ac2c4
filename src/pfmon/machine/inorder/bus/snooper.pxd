"""Snooper of bus requests: see coherence.pyx."""

from libc.stdint cimport int64_t, uint64_t

cdef class Snooper:
    # Snoops another agent's request for the line at ``address``, for ownership (`invalidate`), or for code (`fetches`),
    # on the bus in cycle ``now``: returns the state in which the line was found, which may have changed by that
    # (tag_store.pxd, LineState).
    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches, int64_t now) noexcept nogil
