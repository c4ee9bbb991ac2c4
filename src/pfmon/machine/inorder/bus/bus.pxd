"""The front-side bus, memory, the write-back buffer, and what snoops: see bus.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef class Snooper:
    # Snoops another agent's request for the line at ``address``, for ownership (`invalidate`), or for code (`fetches`),
    # on the bus in cycle ``now``: returns the state in which the line was found, which may have changed by that
    # (tag_store.pxd, LineState).
    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches, int64_t now) noexcept nogil


cdef struct WritebackBuffer:     # lines that wait for the bus; a snoop may hit them (Montecito manual 2.5)
    uint64_t lines[MAX_QUEUE_ENTRIES]
    int64_t entered[MAX_QUEUE_ENTRIES]
    int64_t leaves[MAX_QUEUE_ENTRIES]
    uint32_t next                # index of the next line, which replaces the oldest


cdef inline void enter_writeback(WritebackBuffer* waiting, uint64_t line, int64_t now, int64_t leaves) noexcept nogil:
    """Enters a line, which waits from ``now`` to ``leaves``."""
    cdef uint32_t index = waiting.next % MAX_QUEUE_ENTRIES
    waiting.lines[index], waiting.entered[index], waiting.leaves[index] = line, now, leaves
    waiting.next = index + 1


cdef inline bint has_writeback(const WritebackBuffer* waiting, uint64_t line, int64_t now) noexcept nogil:
    """Whether the line is in the buffer."""
    cdef uint32_t index
    for index in range(MAX_QUEUE_ENTRIES):
        if waiting.lines[index] == line and waiting.entered[index] <= now < waiting.leaves[index]:
            return True
    return False


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
    cdef int64_t partial_cycles  # ... of one of less than a line
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
    # Transfers less than a line (BRP, BWP); returns the cycle in which its data, or its request, was on the bus.
    cdef int64_t transfer(self, EventLog* event_log, bint writes, int64_t now) noexcept nogil
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
