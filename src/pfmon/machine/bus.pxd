"""The front-side bus with the memory behind it: see bus.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.arbiter cimport Arbiter, FrontSideBus
from pfmon.machine.notes cimport Notes
from pfmon.machine.queues cimport Queue
from pfmon.machine.shares cimport Shares
from pfmon.machine.waiting_lines cimport WaitingLines

cdef enum Transaction:           # the order is that of the occurrences BUS_*
    BUS_LINE_OF_DATA = 0         # BRL
    BUS_LINE_OF_CODE = 1         # BRL
    BUS_LINE_TO_OWN = 2          # BRIL


cdef class Bus:
    cdef FrontSideBus front      # what the cores on it share
    cdef Arbiter arbiter         # of two cores; None: there is one
    cdef int64_t memory_latency
    cdef int64_t line_cycles     # core cycles that a line takes the bus
    cdef uint32_t line_clocks    # bus clocks
    cdef int64_t request_cycles, in_order_cycles
    cdef bint castouts
    cdef int64_t writes_bound    # more than these make reads wait
    cdef Queue requests          # BRQ
    cdef Queue memory_reads
    cdef Queue system            # requests before the bus
    cdef Queue writes            # lines before the bus, written
    cdef Queue castout           # ... and clean
    cdef WaitingLines lines_written, lines_cast_out     # which these are
    cdef Queue snoops            # requests of another core that this one is to answer
    cdef int64_t asked           # cycle in which this core's latest request was on the bus

    # The bus is that of another core, too; ``shares`` watches its queues.
    cdef void share(self, Bus other, Arbiter arbiter, Shares shares)
    # The cycle in which a line from memory is there.
    cdef int64_t read(self, Notes* notes, Transaction transaction, int64_t now) noexcept nogil
    # A modified line goes to memory.
    cdef void write(self, Notes* notes, uint64_t line, int64_t now) noexcept nogil
    # A clean line leaves the processor's caches.
    cdef void cast_out(self, Notes* notes, uint64_t line, int64_t now) noexcept nogil
    # Another core's request is on the bus.
    cdef void snooped(self, int64_t now) noexcept nogil
    # A line in state S is wanted alone; the cycle in which it may be written.
    cdef int64_t invalidate(self, Notes* notes, int64_t now) noexcept nogil
    cdef int64_t request(self, int64_t now) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
    cdef void watch(self, Shares shares) noexcept nogil
    cdef bint lost(self) noexcept nogil
