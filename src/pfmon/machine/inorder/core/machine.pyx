"""The machine: reads the traced stream (docs/dev/stream.md), block by block, in program order, and times it.

Its records belong to the event set in force, so that they can be separated by event set.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from pfmon.stream._stream cimport BLOCK_MASK, Failure, RunCounter, popcount

cdef enum:
    WORDS_AHEAD = 40             # prefetched from the host's memory: those of ten blocks or more
    MAX_CYCLES_AHEAD = 64        # by which a core, and a block, may run ahead of the core that it shares memory with


cdef class Machine(Timing):
    """As `Timing`; ``event_sets``: their number."""

    def __cinit__(self, config, table, ranges=(), bint memo=True, uint32_t event_sets=1, Machine beside=None,
                  uint32_t thread=0, bint same_program=False):
        self.shares = EventSetAccounting(event_sets, config)
        self.shares.clock = &self.l2.user_clock
        self.same_program = same_program
        if same_program:
            self.data.share_addresses(THREAD_ID)
            self.l2.other_thread = self.fetch.shared = THREAD_ID
        self.listeners = [None] * event_sets
        self.shares.account(&self.pipeline.frames.current_level, NULL, MAX_LEVEL + 1)
        self.shares.account(&self.pipeline.frames.dirty_level, NULL, MAX_LEVEL + 1)
        self.data.account_levels(self.shares)
        self.fetch.account_levels(self.shares)
        self.l2.account_levels(self.shares)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, word
        cdef const BlockPlan* plan
        cdef bint fast           # a block is held, and may take the fast path
        self.check_other_core()
        fast = self.alone and self.block != NULL
        while i < count:
            word = words[i]
            if word >> 63:
                if self.memo.counted is not None:
                    self.memo.counted.add_marked(word, self.last if self.block == NULL else self.block[0] & BLOCK_MASK)
                if self.mark_count == MAX_BLOCK_MARKS:
                    self.fail(Failure.TOO_MANY_MARKS)
                else:
                    self.marks[self.mark_count] = word
                    self.mark_count += 1
                i += 1
                continue
            plan = plan_of(self.plans, word & BLOCK_MASK)
            if plan == NULL:
                self.fail(self.plans.failure)
                return
            prefetch(words + i + WORDS_AHEAD)
            prefetch(&plan.branch)
            prefetch(plan + 1)
            if fast and self.plan.fast and not self.mark_count:
                fast_block_ran(self, self.plan, plan.ip)
            else:
                self.run_held_words(plan.ip)
                fast = self.alone
            if self.due:
                self.change_event_set()
            self.block, self.plan = words + i, plan
            self.block_count = 1 + plan.accesses
            if word & plan.access_mask:
                self.block_count += popcount(word & plan.access_mask)
            i += self.block_count
            if not self.alone and self.thread_id and self.block_count > 1 and self.block_count <= MAX_HELD_WORDS:
                self.copy_held_words()
        if self.block != NULL and self.block_count > MAX_HELD_WORDS:
            self.fail(Failure.BLOCK_TOO_LONG)    # the block is dropped
            self.block = NULL
        if self.block != NULL and self.block != self.held:
            self.copy_held_words()
        self.check_for_losses()

    cdef void run_held_words(self, uint64_t next_ip) noexcept nogil:
        """Runs the held words, a block with its marks or marks alone; control goes to ``next_ip``."""
        if self.block != NULL:
            self.block_ran(next_ip)
            if self.arbiter is not None and self.now >= self.next_turn:
                self.arbiter.await_turn(self.now)
                self.next_turn = self.now + MAX_CYCLES_AHEAD
        elif self.mark_count:
            self.late_marks()

    cdef void check_other_core(self) noexcept nogil:
        """Determines whether the machine runs alone: before blocks run."""
        self.alone = (self.memoize and self.thread_id == 0 and self.observer is None and self.listener is None
                      and not self.has_listener
                      and self.snooped is None and self.arbiter is None and self.pipeline.switch is None
                      and self.pipeline.ranges.count == 0)

    cdef void copy_held_words(self) noexcept nogil:
        """Copies the words of the held block, and sets the thread's bit in the addresses."""
        cdef uint64_t i
        memcpy(self.held, self.block, self.block_count * sizeof(uint64_t))
        for i in range(1, self.block_count if self.thread_id else 0):
            self.held[i] |= self.thread_id
        self.block = self.held

    # --- event sets

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        """Switches to this event set before the next instruction; a held block still belongs to the one before, with
        the marks that may follow."""
        self.next_event_set = event_set
        self.due = True
        if self.block == NULL and self.mark_count == 0:
            self.change_event_set()

    cdef void change_event_set(self) noexcept nogil:
        """Puts the pending event set in force."""
        self.due = False
        if self.next_event_set != self.event_set:
            self.share()
            self.event_set = self.next_event_set
            self.records.use(self.event_set)
            self.memo.use(self.event_set)
            if self.observer is not None:
                self.observer.use_event_set(self.event_set)
            if self.has_listener:
                with gil:
                    self.set_listener(self.listeners[self.event_set])

    cdef void share(self) noexcept nogil:
        """Attributes levels so far to the event set in force. The clock of the front end may be
        earlier than the pipeline's, and that of the prefetcher earlier than both."""
        cdef int64_t front = self.pipeline.front_end.ready
        if self.waits:
            return                       # its levels were attributed when it lost the core
        if self.state:
            front = self.now + self.memo.state_at(self.state).front
        self.shares.share(self.event_set, self.now, self.fetch.final_cycle(front if front < self.now else self.now))

    cdef void advance(self, uint64_t next_ip) noexcept nogil:
        """Releases the held block."""
        self.check_other_core()
        if self.block != NULL:
            self.block_ran(next_ip)
            self.block = NULL
        elif self.mark_count:
            self.late_marks()
        if self.due:
            self.change_event_set()

    def switch_event_set(self, uint32_t event_set):
        """As `use_event_set`: switches to this event set before the next instruction."""
        self.use_event_set(event_set)

    def update_records(self, uint64_t next_ip):
        """Brings the records up to the instruction at ``next_ip``. Later timing is unaffected; a cycle in which more
        may issue is recorded when it ends."""
        self.advance(next_ip | self.code_id)
        self.memo.write_out()
        self.share()
        self.check_for_losses()

    def show_records(self):
        """Makes the records so far readable, without those of the latest block."""
        self.memo.write_out()
        self.share()

    cdef void late_marks(self) noexcept nogil:
        """Processes marks of a block that is no longer held."""
        cdef uint32_t marks = self.mark_count
        if self.observer is not None:
            self.records.begin_log()
            self.ran = NULL
        if self.listener is not None:
            self.listener.begin()
        self.apply_late_marks()
        if self.listener is not None:
            self.record_captures()
        if self.observer is not None:
            self.report_block(marks)

    # --- interface for Python

    def set_observer(self, RecordObserver observer):
        """Shows records to ``items`` as they are made, block by block. Before the stream begins."""
        self.observer = observer

    def count_runs(self, RunCounter counter):
        """Passes runs of blocks to a counter, when they are written out, and marks. Before the stream begins."""
        self.memo.counted = counter

    def listen(self, CaptureListener listener, uint32_t event_set=0):
        """Notifies a capture listener (None: none) of misses and branches while an event set is in force."""
        self.listeners[event_set] = listener
        self.has_listener = self.has_listener or listener is not None
        if event_set == self.event_set:
            self.set_listener(listener)

    # --- two hardware threads on a core, two cores on a bus

    def forget_levels(self):
        """Disables `levels`: a switch of threads then need not separate them."""
        self.shares.no_levels = True

    def share_core(self, ThreadSwitch switch):
        """Makes this the machine of a hardware thread, which shares the core with another."""
        self.pipeline.switch = switch
        self.together = True
        if self.l2.l3.switch is None:    # the first of the two
            self.l2.l3.switch = switch
            self.data.tlb2.reserve(switch.data_entries)
            self.fetch.tlb2.reserve(switch.fetch_entries)
            self.account_evictions(switch)

    cdef account_evictions(self, ThreadSwitch switch):
        """Tracks evictions between the threads. Threads of one program share lines: then only the TLBs and L1D, whose
        tags name translations of one thread, are tracked."""
        stores = {"itlb1": self.fetch.tlb1.tags, "itlb2": self.fetch.tlb2.tags, **self.data.stores()}
        if not self.same_program:
            stores |= {"l1i": self.fetch.cache, "l2d": self.l2.data, "l2i": self.l2.code, "l3": self.l2.l3.tags}
        for name, store in stores.items():
            switch.account_evictions(name, store)

    cdef void suspend_levels(self) noexcept nogil:
        """Attributes levels so far to the event set in force, and later ones to none."""
        set_level(&self.pipeline.frames.current_level, self.now, self.pipeline.frames.current_level.value)
        set_level(&self.pipeline.frames.dirty_level, self.now, self.pipeline.frames.dirty_level.value)
        self.share()

    cdef void resume_levels(self, int64_t now) noexcept nogil:
        cdef Frames* frames = &self.pipeline.frames
        resume_level(&frames.current_level, now)    # before `skip_time`
        resume_level(&frames.dirty_level, now)
        self.shares.skip_time(now)

    cdef void sleep(self) noexcept nogil:
        self.drain_pipeline()
        self.suspend_levels()

    cdef void wake(self, int64_t now) noexcept nogil:
        if now < self.now:
            now = self.now
        if self.snooped is not None:
            self.snooped.forget_responses()
        self.resume_levels(now)
        self.pipeline.now = self.now = now
        self.pipeline.earliest = now + 1
        self.pipeline.front_end.begin_again(now)

    def share_memory(self, Machine other):
        """Couples this machine with another core whose program shares memory: each snoops the other's requests."""
        self.snoop_each_other(other, True)
        self.arbiter, other.arbiter = self.l2.l3.bus.arbiter, other.l2.l3.bus.arbiter

    cdef snoop_each_other(self, Machine other, bint same_memory):
        """Makes each core snoop the other's requests."""
        self.snooped = SnoopedCaches(self.l2, self.fetch, same_memory)
        other.snooped = SnoopedCaches(other.l2, other.fetch, same_memory)
        self.l2.l3.other, other.l2.l3.other = other.snooped, self.snooped

    def share_bus(self, Arbiter arbiter, Machine other=None):
        """Makes this a core that shares the bus with another one's (None: with one that is still to be made)."""
        self.l2.l3.bus.share(self.l2.l3.bus if other is None else other.l2.l3.bus, arbiter, self.shares)
        self.together = True
        if other is not None:
            self.snoop_each_other(other, False)

    def responses(self) -> dict[str, int]:
        """Snoop responses not yet recorded: occurrence -> times (for tests)."""
        return self.snooped.by_name()

    cdef void lose_core(self, int64_t now) noexcept nogil:
        self.now = now
        self.suspend_levels()
        self.waits = True
        self.order.ordered, self.order.l2_ordered = self.data.ordered, self.l2.ordered
        self.order.latest, self.order.latest_taken = self.l2.latest, self.l2.latest_taken
        self.predictor.exchange_returns(&self.returns)
        drop_prefetches(self.fetch, now)

    cdef void get_core(self, int64_t now) noexcept nogil:
        self.waits = False
        self.resume_levels(now)
        self.data.ordered, self.l2.ordered = self.order.ordered, self.order.l2_ordered
        self.l2.latest, self.l2.latest_taken = self.order.latest, self.order.latest_taken
        self.predictor.exchange_returns(&self.returns)
        if self.same_program:
            self.fetch.thread = self.thread_id
        switch_in(self.pipeline, now)
        self.now = self.pipeline.now

    cdef int64_t drain_pipeline(self) noexcept nogil:
        if self.observer is not None:
            self.records.begin_log()
            self.ran = NULL
        self.restore_pipeline()
        if self.pipeline.open:
            self.pipeline.close(0, NULL, 0)
        if self.snooped is not None and self.last != BLOCK_MASK:
            self.report_responses(self.last)
        if self.pipeline.earliest - 1 > self.now:    # the register stack engine was active last
            self.now = self.pipeline.now = self.pipeline.earliest - 1
        if self.observer is not None:
            self.report_block(0)
        self.memo.write_out()
        return self.now

    cdef int64_t end(self) noexcept nogil:
        if self.ended:
            return self.now
        self.advance(0)
        self.drain_pipeline()
        self.ended = self.together
        return self.now

    # --- interface for Python

    def finish(self):
        """Ends the stream: brings the records up to date. May be called again."""
        self.end()
        set_level(&self.pipeline.frames.current_level, self.now, 0)
        set_level(&self.pipeline.frames.dirty_level, self.now, 0)
        self.data.finish(self.now)
        self.fetch.finish(self.now)
        self.l2.finish(self.now)
        if not self.waits:
            self.shares.share(self.event_set, self.now, self.now)
        self.check_for_losses()

    @property
    def cycles(self) -> int:
        """Cycles so far: those in which something issued, and back-end bubbles."""
        return self.now

    # as of `update_records` or `finish`; ``event_sets``: those included, None: all

    def time(self, event_sets=None):
        """Cycles of the core and of the bus, integers."""
        return self.shares.cycles_of(event_sets)

    def kernel_clock(self, event_sets=None):
        """Cycles of the bus in which the operating system ran."""
        return self.shares.kernel_bus_cycles_of(event_sets)

    def occurrences(self, event_sets=None):
        """{(block or None, instruction, Occurrence, in the data ranges): times}."""
        return self.records.occurrences(event_sets)

    def bubbles(self, event_sets=None):
        """(block, instruction, Cause, cycles): cycles in which nothing issued."""
        return self.records.bubbles(0, event_sets)

    def front_bubbles(self, event_sets=None):
        """(block, instruction, FrontCause, cycles): cycles in which the front end delivered nothing."""
        return self.records.bubbles(1, event_sets)

    def groups(self, event_sets=None):
        """Issue groups with numbers of cycles (records.pyx)."""
        return self.records.groups(event_sets)

    def levels(self, event_sets=None):
        """Name -> cycles of user level at 0, 1, 2, ... RuntimeError: they were not kept (`forget_levels`)."""
        if self.shares.no_levels:
            raise RuntimeError("the machine was told to keep no levels")
        self.shares.select_event_sets(event_sets)
        try:
            return {
                "RSE_CURRENT_REGS": histogram(&self.pipeline.frames.current_level),
                "RSE_DIRTY_REGS": histogram(&self.pipeline.frames.dirty_level),
                **self.data.levels(),
                **self.fetch.levels(),
                **self.l2.levels(),
            }
        finally:
            self.shares.restore_levels()


cdef object histogram(const OccupancyLevel* level):
    cdef uint32_t i
    return [level.cycles[i] for i in range(128)]
