"""Arbitration of two cores on one bus: see arbiter.pyx."""

cimport cython
from libc.stdint cimport int64_t


@cython.final
cdef class FrontSideBus:
    """State of a bus shared by several cores."""

    cdef int64_t requests_end    # cycle in which the address bus is free
    cdef int64_t data_end        # ... the data bus
    cdef int64_t writes_due      # data bus cycles still needed by writes; reads go first
    cdef Queue in_order          # IOQ


@cython.final
cdef class Arbiter(CoupledMachines):
    cdef int64_t clocks[FLOWS]   # simulated time of each core, as known to the bus

    cdef int64_t woken           # cycle in which a sleeping core was woken

    # The running core requests the bus in cycle ``now``: the other one is simulated up to it first.
    cdef void await_turn(self, int64_t now) noexcept nogil
