"""Requests that L2 cannot serve at once, of the block that is being run: lines from L3 or memory, lines in flight, page walks.

Each line on its way occupies a line fill buffer, each walk a page walker; a request that finds none free waits.
"""

cimport cython


cdef inline int64_t take_first(int64_t* free, uint32_t count, int64_t cycle, int64_t cycles) noexcept nogil:
    """Occupies the resource that is free first; returns the cycle in which that begins."""
    cdef uint32_t best = 0, i
    cdef int64_t start
    for i in range(1, count):
        if free[i] < free[best]:
            best = i
    start = max(free[best], cycle)
    free[best] = start + cycles
    return start


@cython.final
cdef class LateRequests(LateMemory):
    """``buffers``: line fill buffers; ``walkers``: page walkers."""

    def __cinit__(self, uint32_t buffers, uint32_t walkers):
        self.buffers, self.walkers = min(buffers, MAX_FILL_BUFFERS), min(walkers, MAX_PAGE_WALKERS)

    cdef uint32_t add(self, int64_t latency, int64_t arrival, int64_t walk, int64_t after,
                      uint32_t cause) noexcept nogil:
        """Adds a request of the block that will be run next; returns its number."""
        cdef LateRequest* one = &self.requests[self.count]
        one.latency, one.arrival, one.walk, one.after, one.cause = latency, arrival, walk, after, cause
        if self.count + 1 < MAX_LATE_REQUESTS:
            self.count += 1
        return <uint32_t>(one - self.requests)

    cdef int64_t serve(self, int32_t request, int64_t cycle) noexcept nogil:
        cdef const LateRequest* one = &self.requests[request]
        if one.walk:
            cycle = take_first(self.walker, self.walkers, cycle, one.walk) + one.walk
        if one.arrival:
            cycle = max(cycle, one.arrival)
        elif one.latency:
            cycle = take_first(self.buffer, self.buffers, cycle, one.latency) + one.latency
        cycle += one.after
        self.until = max(self.until, cycle)
        return cycle

    cdef uint32_t cause(self, int32_t request) noexcept nogil:
        return self.requests[request].cause
