"""The memory below the first-level caches, shared by data and instructions: L2, L3, bus, memory."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.notes cimport Notes

cdef enum RequestKind:
    REQUEST_READ = 0             # data for an integer load that missed L1D, or a fill of the register stack engine
    REQUEST_FLOAT_READ = 1       # a floating-point load
    REQUEST_WRITE = 2            # a store or spill
    REQUEST_SEMAPHORE = 3
    REQUEST_PREFETCH = 4         # lfetch
    REQUEST_FETCH = 5            # demand instruction fetch
    REQUEST_FETCH_PREFETCH = 6   # instruction prefetch
    REQUEST_WALK = 7             # the page walker reads the VHPT

cdef enum RequestFlag:
    REQUEST_EXCLUSIVE = 1        # the line is wanted for writing
    REQUEST_ACQUIRE = 2
    REQUEST_RELEASE = 4


cdef class LowerLevels:
    """L2 (or L2D and L2I), L3, the queues before them, the bus."""

    # The cycle in which what was asked for in cycle `now` is there; for a write: in which the queue has taken it.
    cdef int64_t request(self, Notes* notes, uint64_t address, uint32_t size, int kind, uint32_t flags,
                         int64_t now) noexcept nogil
    # Whether a read or write would be a hit in L2 (writes: in state M or E) with nothing in the way; without effect
    # but for recency and, after a yes for a write, the state M.
    cdef bint quick(self, uint64_t address, int kind, int64_t now) noexcept nogil
    cdef void note_quick(self, Notes* notes, int kind) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
