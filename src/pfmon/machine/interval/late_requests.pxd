"""Requests that L2 cannot serve at once: see late_requests.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pfmon.machine._outoforder cimport LateMemory

cdef enum:
    MAX_LATE_REQUESTS = 1024     # of a block
    MAX_FILL_BUFFERS = 64
    MAX_PAGE_WALKERS = 8

cdef struct LateRequest:
    int64_t latency              # from the request to the data
    int64_t arrival              # the line is in flight until then; 0: it is not
    int64_t walk                 # cycles of a page walk before
    int64_t after                # ... and of L1D behind it, if nothing else is waited for
    uint32_t cause               # DelayCause


@cython.final
cdef class LateRequests(LateMemory):
    cdef LateRequest requests[MAX_LATE_REQUESTS]
    cdef uint32_t count
    cdef uint32_t buffers, walkers
    cdef int64_t until           # cycle in which the last of all is served
    cdef int64_t buffer[MAX_FILL_BUFFERS]    # cycles in which they are free
    cdef int64_t walker[MAX_PAGE_WALKERS]

    cdef uint32_t add(self, int64_t latency, int64_t arrival, int64_t walk, int64_t after,
                      uint32_t cause) noexcept nogil
