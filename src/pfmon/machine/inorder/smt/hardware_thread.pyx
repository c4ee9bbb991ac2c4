"""Switch-out and switch-in of a hardware thread's machine, between two issue groups; a core's sleep and its waking."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BLOCK_MASK


cdef enum:
    MIN_SWITCH_STALL = 4              # cycles, the lowest of THREAD_SWITCH_STALL.GTE_...


cdef inline uint32_t stall_occurrence(int64_t cycles) noexcept nogil:
    """Returns the occurrence of a delayed switch: THREAD_SWITCH_STALL_n, the largest of 4, 8, ... 4096 cycles."""
    cdef uint32_t found = THREAD_SWITCH_STALL_4
    while cycles >= 8 and found < THREAD_SWITCH_STALL_4096:
        cycles >>= 1
        found += 1
    return found


cdef bint switch_out(Pipeline pipeline, const BlockExecution* run, uint32_t first) noexcept nogil:
    """Switches to the other hardware thread before the group at ``first`` issues, if that is due; returns whether it
    did.

    A pipeline stall delays the switch until the stall ends. The switch flushes all fetched bundles, so the group is
    formed again afterwards (Montecito manual 2.4.1)."""
    cdef uint32_t why = 0, held_back, missed
    cdef int64_t at = pipeline.switch.decide(pipeline.now, max(pipeline.start, pipeline.need), &why, &held_back,
                                             &missed)
    pipeline.event_log.context = <uint64_t>first << EVENT_INSTRUCTION_SHIFT
    if pipeline.switch.gated:
        record(&pipeline.event_log, THREAD_SWITCH_GATED_BY_LOW_POWER, pipeline.switch.gated)
        pipeline.switch.gated = 0
    if held_back:
        record(&pipeline.event_log, THREAD_SWITCH_HELD_BACK, held_back)
    if missed:
        record(&pipeline.event_log, THREAD_SWITCH_MISSED, missed)
    if at < 0:
        return False
    if at < pipeline.earliest - 1:
        record(&pipeline.event_log, THREAD_SWITCH_STOOD, 1)
        if pipeline.earliest - 1 - at >= MIN_SWITCH_STALL:
            record(&pipeline.event_log, stall_occurrence(pipeline.earliest - 1 - at), 1)
        at = pipeline.earliest - 1
    record(&pipeline.event_log, THREAD_SWITCH_L3 + why, 1)
    pipeline.front_end.account_waits(run, first, pipeline.earliest, min(at + 1, pipeline.start))
    if at >= pipeline.start:
        pipeline.records.add_bubbles(run.number, pipeline.need_step, BUBBLE_BACK, pipeline.need_cause,
                                     at + 1 - pipeline.start)
    pipeline.front_end.fill_buffer(run.number, at + 1)
    pipeline.now = at
    pipeline.switched = True
    pipeline.switch.switch_away(at, why)
    return True


cdef void switch_in(Pipeline pipeline, int64_t now) noexcept nogil:
    pipeline.owed = pipeline.switch.switch_cycles - 1
    pipeline.now = now + pipeline.owed
    pipeline.earliest = pipeline.now + 1
    pipeline.front_end.begin_again(pipeline.now)
    # Flushed bundles are fetched again.
    pipeline.access_log.next, pipeline.access_log.on = pipeline.access_log.count, False


cdef void record_switch(Pipeline pipeline, const BlockExecution* run, uint32_t first) noexcept nogil:
    """Records the cycles of the switch to this thread, at its next instruction."""
    pipeline.records.add_bubbles(run.number, first, BUBBLE_BACK, THREAD_SWITCH, pipeline.owed)
    pipeline.front_end.account_wait(run.number, first, FRONT_FEFLUSH, pipeline.owed)
    pipeline.owed = 0


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
        if self.machine.pages is not None:
            self.machine.pages.choose_thread(self.machine.thread)
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

    cdef void record_low_power(self) noexcept nogil:
        if self.machine.timing.last == BLOCK_MASK:
            return                       # before its first instruction
        self.machine.pipeline.event_log.context = 0
        record(&self.machine.pipeline.event_log, THREAD_SWITCH_LOW_POWER, 1)
        self.machine.pipeline.record_unattributed(self.machine.timing.last, 0)

    cdef int64_t advance(self, uint64_t next_ip) noexcept nogil:
        self.machine.advance(next_ip | self.machine.code_id)
        return self.machine.replay.now

    cdef int64_t end(self) noexcept nogil:
        return self.machine.end()
