"""Two cores on one bus, as Montecito's (manual 2.5): each has its caches and its queues before the bus, which they share.

Whoever wants the bus first gets it first. So before a core asks for it, the other one runs until it has come as far, or
wants the bus itself, later.
"""

from libc.stdint cimport int64_t

from pfmon.machine.queues cimport start_queue
from pfmon.machine.two_flows cimport SwitchedThread

cdef int64_t NEVER = <int64_t>1 << 62


cdef class FrontSideBus:
    """The figure bus.queue of ``config``."""

    def __cinit__(self, config):
        start_queue(&self.in_order, config["bus.queue"])


cdef class Arbiter(TwoFlows):
    """`run` runs the machines of two cores to the end of their streams."""

    cdef void await_turn(self, int64_t now) noexcept nogil:
        cdef int64_t* clocks = self.clocks
        cdef int own = <int>self.running
        if now > clocks[own]:
            clocks[own] = now
        while clocks[1 - own] < clocks[own] or (clocks[1 - own] == clocks[own] and own == 1):
            self.let_other_run()

    cdef void ends(self, SwitchedThread thread, int64_t now) noexcept nogil:
        self.clocks[self.running] = NEVER
