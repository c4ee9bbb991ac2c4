"""What is below L2: L3, bus, memory."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.notes cimport Notes
from pfmon.machine.queues cimport Queue
from pfmon.machine.shares cimport Shares
from pfmon.machine.tags cimport TagStore

cdef enum Wanted:                # why L2 asks; the order is that of the occurrences
    WANTED_DATA = 0
    WANTED_OWNED = 1             # data, to be written
    WANTED_FETCH = 2             # demand instruction fetch
    WANTED_FETCH_AHEAD = 3

cdef struct Line:                # what L2 gets
    int64_t sent                 # cycle in which L3 could be asked: a request buffer was free
    int64_t ready
    int state                    # tags.pxd, State


cdef class OuterLevels:
    cdef TagStore tags
    cdef int64_t latency[4]      # by Wanted
    cdef int64_t memory_latency
    cdef int64_t line_cycles     # core cycles that a line takes the bus
    cdef uint32_t line_clocks    # bus clocks
    cdef int64_t request_cycles, in_order_cycles
    cdef bint castouts
    cdef int64_t requests_end    # cycle in which the address bus is free
    cdef int64_t data_end        # ... the data bus
    cdef int64_t writes_due      # cycles of data bus that writes still need; reads go first
    cdef int64_t writes_bound    # more than these make reads wait
    cdef Queue tracked           # request buffers
    cdef Queue bus_requests      # BRQ
    cdef Queue memory_reads
    cdef Queue system            # requests before the bus
    cdef Queue in_order          # IOQ
    cdef Queue writes            # lines before the bus, written
    cdef Queue castout           # ... and clean

    # A line that L2 has not; `fill`: L3 keeps it.
    cdef void read(self, Notes* notes, uint64_t address, int wanted, bint fill, int64_t now, Line* out) noexcept nogil
    # A modified line of L2 comes back.
    cdef void write_back(self, Notes* notes, uint64_t address, int64_t now) noexcept nogil
    # L2 has the line in state S and wants it alone; the cycle in which it may write.
    cdef int64_t invalidate(self, Notes* notes, uint64_t address, int64_t now) noexcept nogil
    cdef int64_t bus_request(self, Notes* notes, int64_t now) noexcept nogil
    cdef int64_t bus_read(self, Notes* notes, int wanted, int64_t now) noexcept nogil
    cdef void bus_write(self, Notes* notes, int64_t now) noexcept nogil
    cdef void insert(self, Notes* notes, uint64_t address, int state, int64_t ready, int64_t now) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
    cdef void watch(self, Shares shares) noexcept nogil
