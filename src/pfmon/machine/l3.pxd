"""L3: see l3.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.bus cimport Bus
from pfmon.machine.notes cimport Notes
from pfmon.machine.port cimport Port
from pfmon.machine.queues cimport Queue
from pfmon.machine.snooper cimport Snooper
from pfmon.machine.tags cimport TagStore
from pfmon.machine.thread_switch cimport ThreadSwitch

cdef enum Wanted:                # why L2 asks; the order is that of the occurrences
    WANTED_DATA = 0
    WANTED_OWNED = 1             # data, to be written
    WANTED_FETCH = 2             # demand instruction fetch
    WANTED_FETCH_AHEAD = 3
    WANTS = 4

cdef struct Line:                # what L2 gets
    int64_t sent                 # cycle in which L3 could be asked: a request buffer was free
    int64_t ready
    int state                    # tags.pxd, State


cdef class L3:
    cdef Bus bus
    cdef TagStore tags
    cdef int64_t latency[WANTS]
    cdef Queue tracked           # request buffers
    cdef ThreadSwitch switch     # who is told of misses; None: the core runs one thread
    cdef Snooper other           # the core that shares memory with this one; None: there is none
    cdef int64_t miss_cycles     # from a request until it is known to be a miss
    cdef Port data               # the path of lines from and to L2

    # A line that L2 has not; `fill`: L3 keeps it.
    cdef void read(self, Notes* notes, uint64_t address, int wanted, bint fill, int64_t now, Line* out) noexcept nogil
    # A modified line of L2 comes back, which is sent in cycle `sent`.
    cdef void write_back(self, Notes* notes, uint64_t address, int64_t now, int64_t sent) noexcept nogil
    # L2 has the line in state S and wants it alone; the cycle in which it may write.
    cdef int64_t invalidate(self, Notes* notes, uint64_t address, int64_t now) noexcept nogil
    # fc: the line leaves L3, and the other core; it goes to memory if one has it modified, or L2 (`modified`).
    cdef void flush(self, Notes* notes, uint64_t address, bint modified, int64_t now) noexcept nogil
    # The other core is asked for a line: the state in which it had it.
    cdef int ask_other(self, Notes* notes, uint64_t address, int wanted, uint32_t modified) noexcept nogil
    cdef void insert(self, Notes* notes, uint64_t address, int state, int64_t ready, int64_t now) noexcept nogil
