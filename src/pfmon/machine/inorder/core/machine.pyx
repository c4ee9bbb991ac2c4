"""The machine: reads the traced stream (docs/dev/stream.md), block by block, in program order, and times it.

A machine owns its mechanisms and the objects that use them for a block: `Timing` times it, `MemoReplay` replays or
simulates it, `MarkEffects` applies its marks, `CaptureReporting` and `RecordReporting` report it to a capture listener
and to an observer of the records, and `EventSetSwitch` separates all by event set. Each is handed what it uses.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BLOCK_MASK, Failure, RunCounter

cdef enum:
    MEMO_BYTES = 96 << 20
    WORDS_AHEAD = 40             # prefetched from the host's memory: those of ten blocks or more
    MAX_CYCLES_AHEAD = 64        # by which a core, and a block, may run ahead of the core that it shares memory with


cdef class Machine(EventSetConsumer):
    """``config``: the machine's figures. ``ranges``: (address, mask) of the data ranges. Without ``memo`` everything is
    simulated: slow, with the same results. ``event_sets``: number of event sets in the records. ``beside``: the machine
    of the other hardware thread of the core, whose caches, TLBs and predictor tables this one shares; ``thread``: its
    number; ``same_program``: both have the same addresses. ``system``: the stream is a whole system's, whose kernel is in
    it; None: as the table says."""

    def __cinit__(self, config, table, ranges=(), bint memo=True, uint32_t event_sets=1, Machine beside=None,
                  uint32_t thread=0, bint same_program=False, system=None):
        cdef bint whole_system = table.whole_system if system is None else system
        self.thread_id = THREAD_ID if thread and not whole_system else 0
        self.code_id = 0 if same_program else self.thread_id
        self.same_program = same_program and not whole_system    # physical addresses tell what is the same
        self.make_core(config, beside)
        if whole_system:
            self.pages = PhysicalAddresses() if beside is None else beside.pages
            self.thread = thread
            if beside is None:
                self.data.use_pages(self.pages)
                self.fetch.pages = self.pages
        self.plans = BlockPlans(config, table, self.code_id, self.pages)
        self.records = Records(event_sets)
        self.pipeline = Pipeline(config, self.data, self.fetch, self.predictor, self.records)
        self.memo = Memo(self.records, MEMO_BYTES)
        self.connect(config, event_sets, memo)
        self.set_ranges(ranges)

    cdef make_core(self, config, Machine beside):
        """Makes the mechanisms of a core, or shares those of the machine ``beside``."""
        if beside is None:
            self.l2 = L2(config)
            self.data = DataMemory(config, self.l2)
            self.predictor = branch_predictor(config)
            self.fetch = InstructionFetch(config, self.l2, self.predictor)
            self.data.fetch = self.fetch
        else:
            self.l2, self.data, self.predictor, self.fetch = beside.l2, beside.data, beside.predictor, beside.fetch
        if self.same_program:
            self.data.share_addresses(THREAD_ID)
            self.l2.victims.other_thread = self.fetch.shared = THREAD_ID

    cdef connect(self, config, uint32_t event_sets, bint memo):
        """Makes the objects that use the mechanisms."""
        cdef EventSetAccounting shares = EventSetAccounting(event_sets, config)
        shares.clock = &self.l2.user_clock
        shares.account(&self.pipeline.frames.current_level, NULL, MAX_LEVEL + 1)
        shares.account(&self.pipeline.frames.dirty_level, NULL, MAX_LEVEL + 1)
        self.data.account_levels(shares)
        self.fetch.account_levels(shares)
        self.l2.account_levels(shares)
        self.replay = MemoReplay(self.pipeline, self.fetch, self.memo)
        captures, shown = CaptureReporting(self.plans, self.replay), RecordReporting(self.replay)
        effects = MarkEffects(self.replay, captures, self.thread_id)
        self.timing = Timing(self.replay, effects, captures, shown, memo)
        self.timing.pages = effects.pages = self.pages
        self.event_sets = EventSetSwitch(event_sets, shares, captures, shown)

    # --- the stream

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, word
        cdef const BlockPlan* plan
        cdef bint fast           # a block is held, and may take the fast path
        if self.pages is not None:
            consume_system(self, words, count)
            return
        self.begin_words()
        fast = self.alone and self.held.words != NULL
        while i < count:
            word = words[i]
            if word >> 63:
                self.take_mark(word)
                i += 1
                continue
            plan = plan_of(self.plans, word & BLOCK_MASK)
            if plan == NULL:
                self.fail(self.plans.failure)
                return
            prefetch(words + i + WORDS_AHEAD)
            prefetch(&plan.branch)
            prefetch(plan + 1)
            if fast and self.held.plan.fast and not self.held.mark_count:
                run_fast_block(self.timing, &self.held, self.held.words + 1, plan.ip)
            else:
                self.run_held_block(plan.ip)
                fast = self.alone
            if self.event_sets.due:
                self.event_sets.change()
            hold(&self.held, words + i, plan)
            i += self.held.word_count
            # The copies of a thread's words have its addresses.
            if not self.alone and self.thread_id and 1 < self.held.word_count <= MAX_HELD_WORDS:
                keep_words(&self.held, self.thread_id)
        self.end_words()

    cdef const uint64_t* held_addresses(self) noexcept nogil:
        """Returns the addresses that the held block accesses: of a whole system they are physical."""
        cdef uint64_t k
        if self.pages is None:
            return self.held.words + 1
        if self.held.word_count > MAX_HELD_WORDS:
            self.fail(Failure.BLOCK_TOO_LONG)
            return self.held.words + 1
        for k in range(1, self.held.word_count):
            self.tagged[k] = tagged_address(self.pages, self.held.words[k])
        return self.tagged + 1

    cdef void begin_words(self) noexcept nogil:
        """Determines whether the machine runs alone: before blocks run."""
        self.alone = (self.timing.memoizes and self.thread_id == 0 and self.timing.shown.observer is None
                      and self.timing.captures.listener is None and not self.event_sets.has_listener
                      and self.timing.snooped is None and self.arbiter is None and self.pipeline.switch is None
                      and self.pipeline.ranges.count == 0)

    cdef void take_mark(self, uint64_t mark) noexcept nogil:
        """Holds a mark of the held block."""
        if self.memo.counted is not None:
            self.memo.counted.add_marked(
                mark, self.timing.last if self.held.words == NULL else self.held.words[0] & BLOCK_MASK)
        if not hold_mark(&self.held, mark):
            self.fail(Failure.TOO_MANY_MARKS)

    cdef void run_held_block(self, uint64_t next_ip) noexcept nogil:
        """Runs the held block with its marks, or marks alone; control goes to ``next_ip``."""
        if self.held.words != NULL:
            self.timing.run(&self.held, self.held_addresses(), next_ip)
            if self.arbiter is not None and self.replay.now >= self.next_turn:
                self.arbiter.await_turn(self.replay.now)
                self.next_turn = self.replay.now + MAX_CYCLES_AHEAD
        elif self.held.mark_count:
            self.run_late_marks(next_ip)

    cdef void run_late_marks(self, uint64_t next_ip) noexcept nogil:
        """Processes marks of a block that is no longer held; control goes to ``next_ip``."""
        cdef const BlockPlan* plan = NULL
        if self.timing.last != BLOCK_MASK:
            plan = self.plans.plan(self.timing.last)
            if plan == NULL:
                self.fail(self.plans.failure)
        self.timing.run_late_marks(plan, &self.held, next_ip)

    cdef void end_words(self) noexcept nogil:
        """Keeps the words of the held block: the buffer is about to change."""
        if self.held.words != NULL and self.held.word_count > MAX_HELD_WORDS:
            self.fail(Failure.BLOCK_TOO_LONG)    # the block is dropped
            self.held.words = NULL
        if self.held.words != NULL and self.held.words != self.held.kept:
            keep_words(&self.held, self.thread_id)
        self.check_for_losses()

    cdef void advance(self, uint64_t next_ip) noexcept nogil:
        """Releases the held block."""
        self.begin_words()
        if self.held.words != NULL:
            self.timing.run(&self.held, self.held_addresses(), next_ip)
            self.held.words = NULL
        elif self.held.mark_count:
            self.run_late_marks(next_ip)
        if self.event_sets.due:
            self.event_sets.change()

    cdef int64_t drain(self) noexcept nogil:
        """Ends the open cycle and brings the records up to date; returns the last cycle."""
        return self.timing.drain()

    cdef int64_t end(self) noexcept nogil:
        """The stream has ended: runs the held block. Returns the last cycle."""
        if self.ended:
            return self.replay.now
        self.advance(0)
        self.drain()
        self.ended = self.together
        return self.replay.now

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        """Switches to this event set before the next instruction; a held block still belongs to the one before, with
        the marks that may follow."""
        self.event_sets.request(event_set)
        if self.held.words == NULL and self.held.mark_count == 0:
            self.event_sets.change()

    cdef void check_for_losses(self) noexcept nogil:
        """Sets this machine's failure from the mechanisms' sticky flags of lost entries.

        Limits that only make blocks not memoizable are no losses (scoreboard.MAX_PENDING_RESULTS,
        pipeline_state.MAX_STATE_WAITS, accesses beyond 64 of a block that L2 serves): such a block is simulated, with
        the same result.
        """
        if self.records.lost or self.memo.lost or self.pipeline.frames.lost or self.data.table.lost \
                or self.fetch.table.lost or (self.pages is not None and self.pages.lost):
            self.fail(Failure.OUT_OF_MEMORY)
        if self.pipeline.event_log.lost or (
                self.timing.captures.listener is not None and self.timing.captures.listener.lost):
            self.fail(Failure.TOO_MANY_OCCURRENCES)
        if self.pipeline.front_end.lost or self.pipeline.frames.current_level.lost \
                or self.pipeline.frames.dirty_level.lost or self.data.lost() or self.fetch.lost() or self.l2.lost():
            self.fail(Failure.TOO_MANY_ENTRIES)

    # --- interface for Python

    def set_ranges(self, ranges):
        """Sets the data ranges from the next instruction on: (address, mask) each. No block may be held: call
        `update_records` first."""
        set_ranges(&self.pipeline.ranges, [(address | (self.thread_id & mask), mask) for address, mask in ranges])

    def switch_event_set(self, uint32_t event_set):
        """As `use_event_set`: switches to this event set before the next instruction."""
        self.use_event_set(event_set)

    def update_records(self, uint64_t next_ip):
        """Brings the records up to the instruction at ``next_ip``. Later timing is unaffected; a cycle in which more
        may issue is recorded when it ends."""
        self.advance(next_ip | self.code_id)
        self.memo.write_out()
        self.event_sets.share()
        self.check_for_losses()

    def cycles_before(self, uint64_t next_ip):
        """Returns the cycles until the instruction at ``next_ip``, which is the next one. Later timing is unaffected."""
        self.advance(next_ip | self.code_id)
        return self.replay.now

    def show_records(self):
        """Makes the records so far readable, without those of the latest block."""
        self.memo.write_out()
        self.event_sets.share()

    def set_observer(self, RecordObserver observer):
        """Shows records to ``items`` as they are made, block by block. Before the stream begins."""
        self.timing.shown.observer = observer
        self.records.observed = observer is not None

    def count_runs(self, RunCounter counter):
        """Passes runs of blocks to a counter, when they are written out, and marks. Before the stream begins."""
        self.memo.counted = counter

    def listen(self, CaptureListener listener, uint32_t event_set=0):
        """Notifies a capture listener (None: none) of misses and branches while an event set is in force."""
        self.event_sets.listen(listener, event_set)

    # --- two hardware threads on a core, two cores on a bus

    def forget_levels(self):
        """Disables `levels`: a switch of threads then need not separate them."""
        self.event_sets.shares.no_levels = True

    def share_core(self, ThreadSwitch switch):
        """Makes this the machine of a hardware thread, which shares the core with another. Of a whole system's threads
        it is not known what they evict of each other: they share lines."""
        self.pipeline.switch = switch
        self.together = True
        if self.l2.l3.switch is None:    # the first of the two
            self.l2.l3.switch = switch
            switch.whole_system = self.pages is not None
            if self.pages is None:
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

    def share_memory(self, Machine other):
        """Couples this machine with another core whose program shares memory: each snoops the other's requests."""
        self.snoop_each_other(other, True)
        self.arbiter, other.arbiter = self.l2.l3.bus.arbiter, other.l2.l3.bus.arbiter

    cdef snoop_each_other(self, Machine other, bint same_memory):
        """Makes each core snoop the other's requests."""
        self.timing.snooped = SnoopedCaches(self.l2, self.fetch, same_memory)
        other.timing.snooped = SnoopedCaches(other.l2, other.fetch, same_memory)
        self.l2.l3.other, other.l2.l3.other = other.timing.snooped, self.timing.snooped

    def share_bus(self, Arbiter arbiter, Machine other=None):
        """Makes this a core that shares the bus with another one's (None: with one that is still to be made)."""
        self.l2.l3.bus.share(self.l2.l3.bus if other is None else other.l2.l3.bus, arbiter, self.event_sets.shares)
        self.together = True
        if other is not None:
            self.snoop_each_other(other, False)

    def responses(self) -> dict[str, int]:
        """Snoop responses not yet recorded: occurrence -> times (for tests)."""
        return self.timing.snooped.by_name()

    # --- results

    def finish(self):
        """Ends the stream: brings the records up to date. May be called again."""
        self.end()
        set_level(&self.pipeline.frames.current_level, self.replay.now, 0)
        set_level(&self.pipeline.frames.dirty_level, self.replay.now, 0)
        self.data.finish(self.replay.now)
        self.fetch.finish(self.replay.now)
        self.l2.finish(self.replay.now)
        if not self.event_sets.suspended:
            self.event_sets.shares.share(self.event_sets.in_force, self.replay.now, self.replay.now)
        self.check_for_losses()

    @property
    def cycles(self) -> int:
        """Cycles so far: those in which something issued, and back-end bubbles."""
        return self.replay.now

    @property
    def repeated(self) -> int:
        """Number of blocks that the memo replayed."""
        return self.replay.repeated

    @property
    def simulated(self) -> int:
        """... that the pipeline simulated."""
        return self.replay.simulated

    # as of `update_records` or `finish`; ``event_sets``: those included, None: all

    def time(self, event_sets=None):
        """Cycles of the core and of the bus, integers."""
        return self.event_sets.shares.cycles_of(event_sets)

    def kernel_clock(self, event_sets=None):
        """Cycles of the bus in which the operating system ran."""
        return self.event_sets.shares.kernel_bus_cycles_of(event_sets)

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

    @property
    def register_frame(self):
        """The current register frame: its size, its locals, its rotating registers; dirty registers of lower ones."""
        cdef const Frames* frames = &self.pipeline.frames
        return frames.now.sof, frames.now.sol, frames.now.sor, frames.dirty

    def levels(self, event_sets=None):
        """Name -> cycles of user level at 0, 1, 2, ... RuntimeError: they were not kept (`forget_levels`)."""
        if self.event_sets.shares.no_levels:
            raise RuntimeError("the machine was told to keep no levels")
        self.event_sets.shares.select_event_sets(event_sets)
        try:
            return {
                "RSE_CURRENT_REGS": histogram(&self.pipeline.frames.current_level),
                "RSE_DIRTY_REGS": histogram(&self.pipeline.frames.dirty_level),
                **self.data.levels(),
                **self.fetch.levels(),
                **self.l2.levels(),
            }
        finally:
            self.event_sets.shares.restore_levels()


cdef object histogram(const OccupancyLevel* level):
    cdef uint32_t i
    return [level.cycles[i] for i in range(128)]
