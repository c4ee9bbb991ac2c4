"""L3: see l3.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum L3Request:             # kind of L2's request; the order is that of the occurrences
    WANTED_DATA = 0
    WANTED_OWNED = 1             # data, for a write
    WANTED_FETCH = 2             # demand instruction fetch
    WANTED_FETCH_AHEAD = 3
    WANTS = 4

cdef struct L3Line:              # L3's response to L2
    int64_t sent                 # cycle in which L3 accepted the request: a request buffer was free
    int64_t ready
    int state                    # tag_store.pxd, LineState


@cython.final
cdef class L3:
    cdef Bus bus
    cdef TagStore tags
    cdef int64_t latency[WANTS]
    cdef Queue tracked           # request buffers
    cdef ThreadSwitch switch     # notified of misses; None: the core runs one thread
    cdef Snooper other           # the core that shares memory with this one; None: there is none
    cdef int64_t miss_cycles     # from a request until a miss is detected
    cdef BusyPort data           # the path of lines from and to L2

    # Reads a line that missed L2; `fill`: allocates it in L3.
    cdef void read(self, EventLog* event_log, uint64_t address, int wanted, bint fill, int64_t now,
                   L3Line* out) noexcept nogil
    # Writes back a modified line of L2, sent in cycle `sent`.
    cdef void write_back(self, EventLog* event_log, uint64_t address, int64_t now, int64_t sent) noexcept nogil
    # Upgrades L2's line in state S for a write; returns the cycle of the write.
    cdef int64_t invalidate(self, EventLog* event_log, uint64_t address, int64_t now) noexcept nogil
    # fc: flushes the line from L3 and the other core; writes it back if one of them, or L2 (`modified`), modified it.
    cdef void flush(self, EventLog* event_log, uint64_t address, bint modified, int64_t now) noexcept nogil
    # Snoops the other core for a line; returns the state in which it was found there.
    cdef int snoop_other(self, EventLog* event_log, uint64_t address, int wanted, uint32_t modified) noexcept nogil
    cdef void insert(self, EventLog* event_log, uint64_t address, int state, int64_t ready, int64_t now) noexcept nogil
