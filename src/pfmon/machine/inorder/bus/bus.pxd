"""The front-side bus, and memory: see bus.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum Transaction:           # the order is that of the occurrences BUS_*
    BUS_LINE_OF_DATA = 0         # BRL
    BUS_LINE_OF_CODE = 1         # BRL
    BUS_LINE_TO_OWN = 2          # BRIL


@cython.final
cdef class Bus:
    cdef FrontSideBus front      # state shared by the cores on it
    cdef Arbiter arbiter         # of two cores; None: there is one
    cdef int64_t memory_latency
    cdef int64_t line_cycles     # core cycles of a line's transfer
    cdef uint32_t line_clocks    # bus clocks of it
    cdef int64_t request_cycles, in_order_cycles
    cdef bint castouts
    cdef int64_t writes_bound    # more pending writes than these delay reads
    cdef Queue requests          # BRQ
    cdef Queue memory_reads
    cdef Queue system            # requests before the bus
    cdef Queue writes            # modified victims that wait for the bus
    cdef Queue castout           # clean victims
    cdef WritebackBuffer lines_written, lines_cast_out  # the lines themselves
    cdef Queue snoops            # requests of another core without a snoop response yet
    cdef int64_t asked           # cycle of this core's latest bus request

    # Shares the bus with another core; ``shares`` accounts its queues.
    cdef void share(self, Bus other, Arbiter arbiter, EventSetAccounting shares)
    # Reads a line from memory; returns the cycle of its arrival.
    cdef int64_t read(self, EventLog* event_log, Transaction transaction, int64_t now) noexcept nogil
    # Writes a modified line back to memory.
    cdef void write(self, EventLog* event_log, uint64_t line, int64_t now) noexcept nogil
    # Casts a clean line out of the processor's caches.
    cdef void cast_out(self, EventLog* event_log, uint64_t line, int64_t now) noexcept nogil
    # Snoops another core's request on the bus.
    cdef void snooped(self, int64_t now) noexcept nogil
    # Upgrades a line from state S for a write; returns the cycle from which it may be written.
    cdef int64_t invalidate(self, EventLog* event_log, int64_t now) noexcept nogil
    cdef int64_t request(self, int64_t now) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil
    cdef bint lost(self) noexcept nogil
