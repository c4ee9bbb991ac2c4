"""Arbitration of two cores on one bus, as in Montecito (manual 2.5): each has its own caches and bus queues.

The earliest request wins. So before a core requests the bus, the other one is simulated up to the same cycle, or until
it requests the bus itself, later.
"""

from libc.stdint cimport int64_t, uint32_t


cdef int64_t NEVER = <int64_t>1 << 62


cdef class FrontSideBus:
    """Shared bus state with the figure bus.queue of ``config``."""

    def __cinit__(self, config):
        start_queue(&self.in_order, config["bus.queue"])


cdef class Arbiter(CoupledMachines):
    """`run` runs the machines of two cores to the end of their streams."""

    cdef void await_turn(self, int64_t now) noexcept nogil:
        cdef int64_t* clocks = self.clocks
        cdef int own = <int>self.running
        if now > clocks[own]:
            clocks[own] = now
        while clocks[1 - own] < clocks[own] or (clocks[1 - own] == clocks[own] and own == 1):
            self.yield_to_other()

    def begin_with_one(self):
        """Core 1 sleeps until core 0 wakes it."""
        self.begin_asleep()
        self.clocks[1] = NEVER

    cdef void on_begin(self, SwitchedThread thread) noexcept nogil:
        if self.running and self.woken:
            thread.wake(self.woken)

    cdef void on_sleep(self, SwitchedThread thread) noexcept nogil:
        cdef uint32_t own = self.running
        cdef bint slept = self.asleep[own]
        cdef int64_t clock = self.clocks[own]
        if slept:
            thread.sleep()
        self.clocks[own] = NEVER         # no core waits for it
        if not slept:
            self.yield_to_other()         # it may have read the buffer that the writer waits for
        while self.asleep[own] and not self.ended[1 - own]:
            self.yield_to_other()
        self.clocks[own] = self.woken if slept else clock
        if slept:
            thread.wake(self.woken)

    cdef void on_wake(self, SwitchedThread thread) noexcept nogil:
        cdef uint32_t other = 1 - self.running
        if not self.asleep[other] and not self.starved[other]:
            self.woken = thread.drain_pipeline()
            self.clocks[other] = self.woken

    cdef void on_end(self, SwitchedThread thread, int64_t now) noexcept nogil:
        self.clocks[self.running] = NEVER
