"""Two cores on one bus: see arbiter.pyx."""

from libc.stdint cimport int64_t

from pfmon.machine.queues cimport Queue
from pfmon.machine.two_flows cimport FLOWS, TwoFlows


cdef class FrontSideBus:
    """What cores on one bus share of it."""

    cdef int64_t requests_end    # cycle in which the address bus is free
    cdef int64_t data_end        # ... the data bus
    cdef int64_t writes_due      # cycles of data bus that writes still need; reads go first
    cdef Queue in_order          # IOQ


cdef class Arbiter(TwoFlows):
    cdef int64_t clocks[FLOWS]   # up to where each core has come, as far as the bus knows

    cdef int64_t woken           # cycle in which a core that slept was woken

    # The core that runs wants the bus in cycle ``now``: the other one comes so far first.
    cdef void await_turn(self, int64_t now) noexcept nogil
