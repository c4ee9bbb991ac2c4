"""The front end with its own clock: computes when the next window of bundles can be dispersed, and the causes of waits.

A window arrives one cycle after the previous one; later after a miss or a late prediction, or while the instruction
buffer is full (Montecito manual 4.6: FE_BUBBLE, FE_LOST_BW, BE_LOST_BW_DUE_TO_FE, IDEAL_BE_LOST_BW_DUE_TO_FE).
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef enum:
    MAX_STATE_DISTANCE = 1 << 20           # maximum distance of a state's cycles


cdef inline uint32_t back_cause(uint32_t front) noexcept nogil:
    """Maps a front-end cause to the back end's."""
    if front == FRONT_FEFLUSH:
        return FE_FEFLUSH
    if front == FRONT_TLBMISS:
        return FE_TLBMISS
    if front == FRONT_IMISS:
        return FE_IMISS
    if front == FRONT_BRANCH or front == FRONT_PLP or front == FRONT_BI:
        return FE_BRANCH
    if front == FRONT_FILL_RECIRC:
        return FE_FILL_RECIRC
    return FE_BUBBLE


cdef class FrontEnd:
    """``config``: the machine's figures."""

    def __cinit__(self, config, InstructionFetch fetch, Records records):
        self.fetch, self.records = fetch, records
        self.buffer_windows = config["frontend.buffer"] // 2

    cdef void deliver(self, EventLog* event_log, const BlockExecution* run, const PipelineOp* step, uint32_t number,
                      int64_t earliest,
                      int64_t free) noexcept nogil:
        """Fetches the window of ``step``: arrival, and causes of the wait."""
        cdef int64_t at = self.ready + 1 + self.bubbles
        cdef int64_t full = earliest - self.buffer_windows - at
        cdef int64_t second
        cdef Fetched fetched
        cdef MemoryEvent event
        if self.bubbles:
            self.wait_for(run, number, at, self.bubble_cause, self.bubbles)
            self.bubbles = 0
            self.bubble_cause = 0
        if full > 0:
            self.account_wait(run.number, number, FRONT_IBFULL, full)
            at += full
        event_log.context = <uint64_t>number << EVENT_INSTRUCTION_SHIFT
        if step.window < run.slow_window or self.is_of_line_before(step, run):
            self.fetch.record_quick(event_log)
        else:
            event = fetch_event(number, step.window - run.first_window)
            request_fetch_window(self.access_log, self.fetch, event_log, &event, step.window, at, &fetched)
            if fetched.kernel:
                fetched.ready -= fetched.kernel
                self.kernel = fetched.kernel
            if self.listener is not None:
                self.notify_fetch(run, step, number, &fetched)
            if fetched.ready > at:
                second = fetched.second_cycles
                self.wait_for(run, number, fetched.ready - second, fetched.cause, fetched.ready - at - second)
                self.wait_for(run, number, fetched.ready, fetched.second_cause, second)
                at = fetched.ready
        self.account_ideal(run, number, free, at)
        if step.address & 16:            # entered in its second half
            self.records.add_bubbles(run.number, number, BUBBLE_ENTRANCE, FRONT_UNREACHED, 1)
        self.ready = at
        self.window = step.window

    cdef bint is_of_line_before(self, const PipelineOp* step, const BlockExecution* run) noexcept nogil:
        """Whether the block's previous window is of the same line: that line has arrived."""
        return (step.window > run.slow_window and step.window > run.first_window
                and step.window & (self.fetch.line - 1) != 0)

    cdef void notify_fetch(self, const BlockExecution* run, const PipelineOp* step, uint32_t number,
                   const Fetched* fetched) noexcept nogil:
        """Notifies the capture listener of misses."""
        cdef uint64_t line = step.address >> self.fetch.line_shift << self.fetch.line_shift & ~THREAD_ID
        if fetched.level and self.listener.fetch_translations:
            self.listener.fetch_translation(run.number, number, line, fetched.level)
        if fetched.asked >= 0 and self.listener.fetches:
            self.listener.fetch(run.number, number, line, fetched.ready + fetched.kernel - fetched.asked,
                                fetched.under_way)

    cdef void redirect(self, int32_t bubbles, uint32_t cause) noexcept nogil:
        """Redirects fetch after a taken branch or a late not-taken prediction."""
        self.window = 0
        self.bubbles = bubbles
        self.bubble_cause = cause if bubbles else 0

    cdef void flush(self, uint64_t number, uint32_t cause, int64_t until) noexcept nogil:
        """Flushes fetched bundles; the next window can be dispersed after ``until``."""
        if until > self.ready:
            self.account_wait(number, 0, FRONT_FEFLUSH, until - self.ready)
            self.ready = until
        self.wait_count = 1
        self.waits[0].until = until + 1
        self.waits[0].cause = cause
        self.waits[0].front = FRONT_FEFLUSH
        self.redirect(0, 0)

    cdef void begin_again(self, int64_t now) noexcept nogil:
        self.ready = now
        self.wait_count = 0
        self.redirect(0, 0)

    cdef void stop(self, int64_t cycles) noexcept nogil:
        cdef uint32_t i
        self.ready += cycles
        for i in range(self.wait_count):
            self.waits[i].until += cycles

    cdef void fill_buffer(self, uint64_t number, int64_t earliest) noexcept nogil:
        """Fetches ahead until the instruction buffer was full, while the back end stalled."""
        cdef int64_t full = earliest - self.buffer_windows - 1 - self.ready
        if full > 0:
            self.account_wait(number, 0, FRONT_IBFULL, full)
            self.ready += full

    # --- accounts

    cdef void account_wait(self, uint64_t number, uint32_t instruction, uint32_t cause, int64_t cycles) noexcept nogil:
        """Accounts cycles without delivery: two bundles are missing in each."""
        self.records.add_bubbles(number, instruction, BUBBLE_FRONT, cause, cycles)
        self.records.add_bubbles(number, instruction, BUBBLE_ENTRANCE, cause, 2 * cycles)

    cdef void wait_for(self, const BlockExecution* run, uint32_t number, int64_t until, uint32_t front,
                       int64_t cycles) noexcept nogil:
        """Accounts a stall of delivery until a cycle, which may reach the back end."""
        if cycles <= 0:
            return
        self.account_wait(run.number, number, front, cycles)
        if self.wait_count == WAITS:
            self.lost = True
        else:
            self.waits[self.wait_count].until = until
            self.waits[self.wait_count].cause = back_cause(front)
            self.waits[self.wait_count].front = front
            self.wait_count += 1

    cdef void account_ideal(self, const BlockExecution* run, uint32_t number, int64_t at, int64_t until) noexcept nogil:
        """Accounts bundles missing at the exit of the instruction buffer, whether or not the back end is stalled, in
        cycles of user level."""
        cdef int64_t end
        cdef uint32_t i
        at = user_cycle(self.clock, at - 1)
        until = user_cycle(self.clock, until - 1)
        for i in range(self.wait_count):
            end = min(user_cycle(self.clock, self.waits[i].until - 1), until)
            if end > at:
                self.records.add_bubbles(run.number, number, BUBBLE_IDEAL, self.waits[i].front, 2 * (end - at))
                at = end
        if until > at:
            self.records.add_bubbles(run.number, number, BUBBLE_IDEAL, FRONT_BUBBLE, 2 * (until - at))

    cdef void account_waits(self, const BlockExecution* run, uint32_t instruction, int64_t at,
                            int64_t start) noexcept nogil:
        """Attributes the cycles from ``at`` to ``start``, without delivery, to the front end's waits."""
        cdef int64_t until
        cdef uint32_t i
        for i in range(self.wait_count):
            until = self.waits[i].until if self.waits[i].until < start else start
            if until > at:
                self.records.add_bubbles(run.number, instruction, BUBBLE_BACK, self.waits[i].cause, until - at)
                self.records.add_bubbles(run.number, instruction, BUBBLE_LOST, self.waits[i].front, 2 * (until - at))
                at = until
        if start > at:
            self.records.add_bubbles(run.number, instruction, BUBBLE_BACK, FE_BUBBLE, start - at)
            self.records.add_bubbles(run.number, instruction, BUBBLE_LOST, FRONT_BUBBLE, 2 * (start - at))
        self.wait_count = 0

    cdef uint32_t missing(self) noexcept nogil:
        """Returns the cause of a missing next bundle."""
        return self.waits[self.wait_count - 1].front if self.wait_count else FRONT_BUBBLE

    # --- for the memo

    cdef bint save(self, PipelineState* state, int64_t now) noexcept nogil:
        """Saves its part of a state; False when it does not fit in one."""
        cdef uint32_t i, waits = 0
        if self.ready - now < -MAX_STATE_DISTANCE:
            return False
        for i in range(self.wait_count):
            waits += self.waits[i].until > now
        if waits > MAX_STATE_WAITS:
            return False
        state.window = self.window
        state.front = <int32_t>(self.ready - now)
        state.front_bubbles = self.bubbles
        state.front_cause = self.bubble_cause
        for i in range(self.wait_count):
            if self.waits[i].until > now:
                state.waits[state.wait_count] = self.waits[i]
                state.waits[state.wait_count].until -= now
                state.wait_count += 1
        return True

    cdef void restore(self, const PipelineState* state, int64_t now) noexcept nogil:
        """Restores a state."""
        cdef uint32_t i
        self.window = state.window
        self.ready = now + state.front
        self.bubbles = state.front_bubbles
        self.bubble_cause = state.front_cause
        self.wait_count = state.wait_count
        for i in range(state.wait_count):
            self.waits[i] = state.waits[i]
            self.waits[i].until += now
