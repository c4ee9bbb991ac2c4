"""What a machine does when its hardware thread loses and gets the core, or when its core sleeps and wakes."""

from libc.stdint cimport int64_t


cdef class HardwareThread(SwitchedThread):
    """The thread of ``machine``."""

    def __cinit__(self, Machine machine):
        self.machine = machine

    cdef void lose_core(self, int64_t now) noexcept nogil:
        self.machine.replay.now = now
        self.machine.event_sets.suspend()
        self.machine.event_sets.suspended = True
        self.order.ordered, self.order.l2_ordered = self.machine.data.ordered, self.machine.l2.ordered
        self.order.latest, self.order.latest_taken = self.machine.l2.latest, self.machine.l2.latest_taken
        self.machine.predictor.exchange_returns(&self.returns)
        drop_prefetches(self.machine.fetch, now)

    cdef void get_core(self, int64_t now) noexcept nogil:
        self.machine.event_sets.suspended = False
        self.machine.event_sets.resume(now)
        self.machine.data.ordered, self.machine.l2.ordered = self.order.ordered, self.order.l2_ordered
        self.machine.l2.latest, self.machine.l2.latest_taken = self.order.latest, self.order.latest_taken
        self.machine.predictor.exchange_returns(&self.returns)
        if self.machine.same_program:
            self.machine.fetch.thread = self.machine.thread_id
        switch_in(self.machine.pipeline, now)
        self.machine.replay.now = self.machine.pipeline.now

    cdef void sleep(self) noexcept nogil:
        self.machine.drain()
        self.machine.event_sets.suspend()

    cdef void wake(self, int64_t now) noexcept nogil:
        if now < self.machine.replay.now:
            now = self.machine.replay.now
        if self.machine.timing.snooped is not None:
            self.machine.timing.snooped.forget_responses()
        self.machine.event_sets.resume(now)
        self.machine.replay.now = self.machine.pipeline.now = now
        self.machine.pipeline.earliest = now + 1
        self.machine.pipeline.front_end.begin_again(now)

    cdef int64_t drain_pipeline(self) noexcept nogil:
        return self.machine.drain()

    cdef int64_t end(self) noexcept nogil:
        return self.machine.end()
