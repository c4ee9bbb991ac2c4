"""Memory aligned to the host's cache lines: fields used together are fetched together."""

from libc.stdint cimport uint64_t

cdef extern from "<stdlib.h>" nogil:
    void* aligned_alloc(size_t, size_t)

cdef extern from * nogil:
    """
    #define pfmon_prefetch(place) __builtin_prefetch(place)
    """
    # Prefetches a line of the host's memory; any address is allowed, mapped or not.
    void prefetch "pfmon_prefetch"(const void* place)

cdef enum:
    HOST_LINE = 64               # bytes


cdef inline void* alloc_host_lines(uint64_t bytes) noexcept nogil:
    """Allocates at least so many bytes, uninitialized; NULL when there is no memory. Released by `free`."""
    return aligned_alloc(HOST_LINE, (bytes + HOST_LINE - 1) & ~<uint64_t>(HOST_LINE - 1))
