"""Memory that begins with a line of the host's caches: what is looked at together is fetched together."""

from libc.stdint cimport uint64_t

cdef extern from "<stdlib.h>" nogil:
    void* aligned_alloc(size_t, size_t)

cdef extern from * nogil:
    """
    #define pfmon_prefetch(place) __builtin_prefetch(place)
    """
    # The line of a place will be looked at soon; any place will do, there need be nothing.
    void prefetch "pfmon_prefetch"(const void* place)

cdef enum:
    HOST_LINE = 64               # bytes


cdef inline void* take_lines(uint64_t bytes) noexcept nogil:
    """At least so many bytes, as they are; NULL when there is no memory. `free` gives them back."""
    return aligned_alloc(HOST_LINE, (bytes + HOST_LINE - 1) & ~<uint64_t>(HOST_LINE - 1))
