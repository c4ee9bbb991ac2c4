"""The miss events of interval simulation, and their latencies.

Misses of lines and translations by an access or the fetch of a block, and mispredicted branches. A block without any is
handled by interval_machine.pyx alone.
"""


cdef inline void add_slots(IssueSlots* to, const CoreBlock* block, const BlockTimes* times, int64_t cycle) noexcept nogil:
    """Adds what the slots of a block that ran went to. Cycles of a wait for the front end in which it delivers nothing are latency."""
    to.retired += block.slots
    to.heavy += block.heavy
    to.undelivered += times.undelivered
    to.latency += times.undelivered - times.undelivered % cycle
    to.mispredicted += times.mispredicted


cdef class MissEvents(EventSetConsumer):
    """``config``: the machine's figures; ``event_sets``: number of event sets in the records; ``cores``: of a machine of several
    cores, of which this is ``core``; ``beside``: another one, with the records and the last level that they share."""

    def __cinit__(self, config, BlockTable table, uint32_t event_sets=1, timings=None, bint graphs=True,
                  CoherentCaches cores=None, uint32_t core=0, MissEvents beside=None):
        self.records = Records(event_sets) if beside is None else beside.records
        self.records.use(0)
        self.width = config["core.width"]
        self.plans = IntervalBlocks(table, self.width, config["l1i.line"])
        self.tallies = EventTallies(self.records)
        self.caches = Hierarchy(config, cores, core, None if beside is None else beside.caches)
        self.translations = IntervalTlbs(config)
        self.predictor = IntervalPredictor(config)
        self.says_snoops = config["machine.pmu"] != "nehalem"    # its encoding is another one (SDM, Nehalem's table)
        self.window_cycles = config["core.window"] // self.width
        self.window = Window(self.tallies, config["core.window"], config["core.stores"])
        self.mispredict, self.redirect = config["predictor.mispredict"], config["predictor.redirect"]
        self.shift, self.page_lines = self.caches.l1d.shift, PAGE_SHIFT - self.plans.line_shift
        self.l1d, self.l1i = self.caches.l1d.rows, self.caches.l1i.rows
        self.dtlb, self.itlb = self.translations.data.rows, self.translations.code.rows
        self.timings = timings
        if timings is not None:
            figures = timings.core_figures()
            self.core, self.has_core = OutOfOrderCore(graphs), True
            self.core.set_figures(figures)
            self.ticks = self.core.figures.ticks
            self.forward_excess = self.ticks * max(0, figures["forward_excess"])
            self.plans.cores = CoreBlocks(table, timings, figures)
            self.loop_size = figures["loop_buffer"]
            self.entered_windows = 1
            if figures["line"]:
                self.code_windows = LruSets(figures["uop_cache_sets"], figures["uop_cache_ways"], 0)
                self.lines_share_set = figures["uop_cache_index"] == "windows"

    def record_events(self, bint executions, bint sources):
        """Records events besides misses (CoreEvent), too; ``executions``: also those that follow from executions,
        ``sources``: also where micro-operations come from. Before the stream begins."""
        if self.core is not None:
            self.recording, self.sources, self.tallies.executions = True, sources, executions

    def count_slots(self):
        """Counts what the slots of dispatch went to (`issue_slots`), too. Before the stream begins."""
        self.counts_slots = self.core is not None

    def keep_timeline(self, ranges=(), uint32_t iterations=4, uint32_t rows=1024, uint32_t captures=64):
        """Keeps the timeline of hot blocks, too; arguments as of `CoreTimeline`. Returns it; None: the machine has no times of instructions.
        Before the stream begins."""
        if self.core is None:
            return None
        timeline = CoreTimeline(self.plans.cores, ranges, iterations, rows, captures)
        self.core.keep_timeline(timeline)
        return timeline

    def issue_slots(self):
        """Slots of dispatch so far by what they went to; None: they are not counted. Micro-operations, those of instructions that have
        several, slots in which dispatch waited for the front end, those of whole cycles of that, and slots behind mispredicted branches."""
        cdef int64_t slot
        if not self.counts_slots:
            return None
        slot = self.core.figures.slot
        return (self.slots.retired, self.slots.heavy, self.slots.undelivered // slot, self.slots.latency // slot,
                self.slots.mispredicted // slot)

    cdef void stall(self, IntervalBlock* plan, uint32_t instruction, uint32_t cause, int64_t until) noexcept nogil:
        """Stalls dispatch until a cycle."""
        if until > self.now:
            tally(self.tallies, plan, instruction, TALLY_STALL + cause, <uint64_t>(until - self.now))
            self.now = until

    cdef void late_code(self, IntervalBlock* plan, uint64_t line, const LruLine* found, bint translated) noexcept nogil:
        """Handles a miss of a line of instructions or of its translation; ``found``: L1I has it, or will."""
        cdef uint64_t page = line >> self.page_lines
        cdef bint walked = False
        cdef int64_t began
        cdef HierarchyAccess served
        if self.core is not None:
            self.code_response(plan, line, found, translated)
            return
        if not translated:
            self.stall(plan, 0, STALL_ITLB,
                       self.now + self.translations.miss(self.translations.code, page, self.translations.shared,
                                                         &walked))
            if walked:
                tally(self.tallies, plan, 0, TALLY_ITLB_MISS, 1)
        began = self.now
        if found == NULL:
            self.caches.fetch(line << self.plans.line_shift, self.now, &served)
            tally(self.tallies, plan, 0, TALLY_L1I_MISS, 1)
            self.record_last_level(plan, 0, &served)
            self.stall(plan, 0, STALL_L1I, served.ready)
        else:
            self.stall(plan, 0, STALL_L1I, ready_of(found))
        if self.listener is not None:
            self.notify_fetch(plan, line, found, translated, walked, &served, began)

    cdef void notify_fetch(self, IntervalBlock* plan, uint64_t line, const LruLine* found, bint translated, bint walked,
                        const HierarchyAccess* served, int64_t began) noexcept nogil:
        """Notifies the capture listener of a fetch that missed."""
        line <<= self.plans.line_shift
        if not translated and self.listener.fetch_translations:
            self.listener.fetch_translation(plan.number, 0, line, TlbLevel.TLB_WALKER if walked else TlbLevel.TLB_L2)
        if found == NULL and self.listener.fetches:
            self.listener.fetch(plan.number, 0, line, served.ready - began, False)

    cdef void use_lines(self, IntervalBlock* plan, uint32_t number, uint64_t line, uint64_t last) noexcept nogil:
        """Accesses the lines of an access, one after the other. Hits in L1D and the first-level TLB cost nothing that
        the window does not hide."""
        cdef bint translated
        cdef LruLine* found
        if line == 0:                # an access that was not made
            return
        if accesses_of(plan)[number].size & BYPASSES:
            self.bypass_lines(plan, number, line, last)
            return
        if self.core is not None and line < last and last - line < 2:
            respond(&self.responses, number, RESPONSE_PAGE_SPLIT if last & ((1 << (PAGE_SHIFT - self.shift)) - 1) == 0
                    else RESPONSE_SPLIT, 0)
            if self.recording:
                note_split(self, plan, &accesses_of(plan)[number])
        while line <= last:
            translated = use_line(&self.dtlb, line >> (PAGE_SHIFT - self.shift)) != NULL
            found = use_line(&self.l1d, line)
            if found != NULL and is_shared(found) and accesses_of(plan)[number].writes:
                own_line(self, plan, number, line)
            if translated and found != NULL and ready_of(found) <= self.now + self.caches.l1_latency:
                found.ready |= accesses_of(plan)[number].writes
            elif self.core is not None:
                self.access_response(plan, number, line, found, translated)
            else:
                self.late_line(plan, number, line, found, translated)
            line += 1

    cdef void bypass_lines(self, IntervalBlock* plan, uint32_t number, uint64_t line, uint64_t last) noexcept nogil:
        """Accesses lines in memory alone, past the caches: a non-temporal store, or clflush."""
        cdef bint walked
        cdef uint64_t page
        last = (self.address + (accesses_of(plan)[number].size & (BYPASSES - 1)) - 1) >> self.shift
        while line <= last:
            walked, page = False, line >> (PAGE_SHIFT - self.shift)
            if use_line(&self.dtlb, page) == NULL:
                self.translations.miss(self.translations.data, page, True, &walked)
                if accesses_of(plan)[number].writes:
                    record_translation(self, plan, &accesses_of(plan)[number], walked)
            self.caches.bypass(line << self.shift)
            line += 1

    cdef void late_line(self, IntervalBlock* plan, uint32_t number, uint64_t line, LruLine* found,
                        bint translated) noexcept nogil:
        """Handles a miss of a line of an access or of its translation; ``found``: L1D has it, or will."""
        cdef const IntervalAccess* access = &accesses_of(plan)[number]
        cdef int64_t began = self.now, start
        cdef bint walked = False
        cdef HierarchyAccess served
        if plan.flow != NULL and self.window.pending > self.now:
            began = self.window.ready(&addresses_of(plan.flow)[number], began)
        start = began
        if not translated:
            start += self.translations.miss(self.translations.data, line >> (PAGE_SHIFT - self.shift), True, &walked)
            record_translation(self, plan, access, walked)
        if found == NULL:
            self.caches.data(line << self.shift, access.writes, start, &served)
            self.record_miss(plan, access, &served, began)
            if access.writes and not access.reads:
                self.stall(plan, access.instruction, STALL_STORES, self.window.store(self.now, served.ready))
        else:
            found.ready |= access.writes
            served.level, served.ready = LEVEL_L1, max(start + self.caches.l1_latency, ready_of(found))
        if self.listener is not None:
            self.notify_access(plan, access, line, found, translated, walked, &served, began)
        if access.reads and (found == NULL or served.ready > began + self.caches.l1_latency):
            self.late_load(plan, number, &served, start > began)

    cdef void notify_access(self, IntervalBlock* plan, const IntervalAccess* access, uint64_t line,
                            const LruLine* found,
                        bint translated,
                        bint walked, const HierarchyAccess* served, int64_t began) noexcept nogil:
        """Notifies the capture listener of an access that missed."""
        cdef uint64_t address = self.address if self.address >> self.shift == line else line << self.shift
        if not translated and self.listener.translations:
            self.listener.translation(plan.number, access.instruction, address,
                                   TlbLevel.TLB_WALKER if walked else TlbLevel.TLB_L2, False)
        if found == NULL and access.reads and self.listener.loads:
            self.listener.load(plan.number, access.instruction, address, began, served.ready - began, False,
                               served.level)

    cdef void late_load(self, IntervalBlock* plan, uint32_t number, const HierarchyAccess* served,
                        bint translated) noexcept nogil:
        """Handles a load whose data arrives late. If it arrives before later instructions have filled the window, only
        its consumers wait."""
        cdef uint32_t cause = STALL_WINDOW_L2 + served.level - LEVEL_L2
        self.window.load(number, served.ready)
        if served.ready <= self.now + self.window_cycles:
            return
        if served.level == LEVEL_L1:             # in flight
            cause = STALL_DTLB if translated else STALL_WINDOW_MEMORY
        self.window.wait_for(plan, accesses_of(plan)[number].instruction, served.ready, TALLY_STALL + cause)

    cdef void record_miss(self, IntervalBlock* plan, const IntervalAccess* access, const HierarchyAccess* served,
                          int64_t began) noexcept nogil:
        if access.reads:
            tally(self.tallies, plan, access.instruction, TALLY_L1D_READ_MISS, 1)
            tally(self.tallies, plan, access.instruction, TALLY_LOAD_MISS_CYCLE, <uint64_t>(served.ready - began))
        elif access.writes:
            tally(self.tallies, plan, access.instruction, TALLY_L1D_WRITE_MISS, 1)
        self.record_last_level(plan, access.instruction, served)

    cdef void record_last_level(self, IntervalBlock* plan, uint32_t instruction,
                                const HierarchyAccess* served) noexcept nogil:
        if served.references:
            tally(self.tallies, plan, instruction, TALLY_LLC_REFERENCE, served.references)
        if served.misses:
            tally(self.tallies, plan, instruction, TALLY_LLC_MISS, served.misses)

    cdef void follow_branch(self, IntervalBlock* plan, uint64_t next_ip) noexcept nogil:
        """Follows a taken branch whose direction was predicted."""
        cdef BranchVerdict verdict
        if next_ip == UNKNOWN_IP:
            self.unfollowed, self.unforeseen = plan, False
            return
        verdict = self.predictor.follow(plan.branch, plan.last, behind(plan), next_ip)
        if verdict == BranchVerdict.LATE and self.core is not None:
            self.end |= END_REDIRECTED
            if self.recording:
                self.tallies.add_event(plan, plan.length - 1, EVENT_REDIRECTED, 1)
        elif verdict == BranchVerdict.LATE:
            self.stall(plan, plan.length - 1, STALL_REDIRECT, self.now + self.redirect)
        elif verdict == BranchVerdict.MISPREDICTED:
            self.mispredicted(plan, True)

    cdef void wrong_direction(self, IntervalBlock* plan, bint taken, uint64_t next_ip) noexcept nogil:
        """Handles a branch with a mispredicted direction."""
        if taken and next_ip == UNKNOWN_IP:
            self.unfollowed, self.unforeseen = plan, True
        elif taken:
            self.predictor.take_unforeseen(plan.last, next_ip)
        self.mispredicted(plan, taken)

    cdef void follow_late(self, uint64_t next_ip) noexcept nogil:
        """Follows the branch that ended the turn before: its thread has another one. What it costs is the next block's."""
        cdef IntervalBlock* plan = self.unfollowed
        self.unfollowed = NULL
        if self.unforeseen:
            self.predictor.take_unforeseen(plan.last, next_ip)
        else:
            self.follow_branch(plan, next_ip)

    cdef void mispredicted(self, IntervalBlock* plan, bint taken) noexcept nogil:
        """Handles a misprediction, which is detected when the branch's operands are ready."""
        cdef int64_t resolved = self.now
        self.wrong = True
        tally(self.tallies, plan, plan.length - 1, TALLY_MISPREDICTED + branch_class(plan.branch, plan.condition, taken), 1)
        if self.core is not None:
            self.end |= END_MISPREDICTED
            return
        if plan.flow != NULL and self.window.pending > self.now:
            resolved = self.window.ready(&plan.flow.branch, resolved)
        self.stall(plan, plan.length - 1, STALL_BRANCH, resolved + self.mispredict)

    # --- with a table of instructions: responses to the accesses of a block, and its schedule from them

    cdef void code_response(self, IntervalBlock* plan, uint64_t line, const LruLine* found, bint translated) noexcept nogil:
        """Handles a miss of a line of instructions or of its translation; ``found``: L1I has it, or will."""
        cdef bint walked = False
        cdef HierarchyAccess served
        cdef L2Traffic before
        cdef int64_t waits
        if not translated:
            waits = self.translations.miss(self.translations.code, line >> self.page_lines, self.translations.shared, &walked)
            respond(&self.responses, 0, RESPONSE_FETCH_TRANSLATION, self.ticks * waits)
            if walked:
                tally(self.tallies, plan, 0, TALLY_ITLB_MISS, 1)
            if self.recording:
                record_code_translation(self, plan, waits, walked)
        waits = 0
        if found == NULL:
            before = self.caches.traffic
            self.caches.fetch(line << self.plans.line_shift, self.now, &served)
            tally(self.tallies, plan, 0, TALLY_L1I_MISS, 1)
            self.record_last_level(plan, 0, &served)
            if self.recording:
                record_request(self, plan, 0, EVENT_FETCH_L2, EVENT_FETCH_CYCLE, &served)
                record_traffic(self, plan, 0, EVENT_CODE_PREFETCH_HIT, &before)
            waits = served.ready - self.now
        elif ready_of(found) > self.now:
            waits = ready_of(found) - self.now
        if waits:
            respond(&self.responses, 0, RESPONSE_FETCH, self.ticks * waits)
        if waits and self.recording:
            self.tallies.add_event(plan, 0, EVENT_FETCH_LINE_CYCLE, <uint64_t>waits)
        if self.listener is not None:
            self.notify_fetch(plan, line, found, translated, walked, &served, self.now)

    cdef void access_response(self, IntervalBlock* plan, uint32_t number, uint64_t line, LruLine* found,
                              bint translated) noexcept nogil:
        """Handles a miss of a line of an access or of its translation; ``found``: L1D has it, or will."""
        cdef const IntervalAccess* access = &accesses_of(plan)[number]
        cdef bint walked = False
        cdef HierarchyAccess served
        cdef L2Traffic before
        cdef uint64_t lines
        cdef int32_t other
        cdef int64_t waits = 0
        served.level, served.ready = LEVEL_L1, self.now + self.caches.l1_latency
        if not translated:
            waits = self.translations.miss(self.translations.data, line >> (PAGE_SHIFT - self.shift), True, &walked)
            record_translation(self, plan, access, walked)
            respond(&self.responses, number, RESPONSE_WALK if walked else RESPONSE_TRANSLATION, 0)
        if found == NULL:
            lines, before = self.caches.transfers, self.caches.traffic
            self.caches.data(line << self.shift, access.writes, self.now, &served)
            self.record_miss(plan, access, &served, self.now)
            if self.recording:
                record_data_request(self, plan, access, &served, &before)
            if served.snoop == SNOOP_HITM and self.caches.cores.watches and access.reads | access.writes:
                self.caches.cores.note(<uint64_t>plan.number << 8 | access.instruction, max(self.address, line << self.shift),
                                       not access.reads or access.locked)
            if served.level == LEVEL_L2 and served.snoop == SNOOP_NONE and served.ready > self.now + self.caches.l2_latency:
                respond(&self.responses, number, RESPONSE_IN_FLIGHT, self.ticks * (served.ready - self.now))
            else:
                respond(&self.responses, number, RESPONSE_SECOND_LEVEL + served.level - LEVEL_L2, 0)
                note_miss(&self.responses, line, number)
                if served.snoop != SNOOP_NONE and served.level != LEVEL_MEMORY:
                    respond_snooped(self, number, access, &served)
            lines = self.caches.transfers - lines - (served.level == LEVEL_MEMORY) * (1 << 16) - (served.level >= LEVEL_L3)
            if lines:
                respond(&self.responses, number, RESPONSE_BUS, lines)
        else:
            found.ready |= access.writes
            if ready_of(found) > self.now + self.caches.l1_latency:
                served.ready, other = ready_of(found), missed_by(&self.responses, line)
                if self.recording and access.reads and not access.locked:
                    note_outcome(self, plan, access.instruction, 1 << EVENT_LOAD_IN_FLIGHT)
                if other >= 0:
                    respond(&self.responses, number, RESPONSE_IN_FLIGHT_HERE, other)
                else:
                    respond(&self.responses, number, RESPONSE_IN_FLIGHT, self.ticks * (served.ready - self.now))
        if self.listener is not None:
            self.notify_access(plan, access, line, found, translated, walked, &served, self.now)
            if self.listener.precise and access.reads:
                self.note_late_load(number, &served, found != NULL, waits, walked)

    cdef void note_late_load(self, uint32_t number, const HierarchyAccess* served, bint pending, int64_t waits,
                             bint walked) noexcept nogil:
        """Notes what served a load; of one of several lines, the line that comes last. ``pending``: the line was on its way
        to L1D; ``waits``: cycles for its translation."""
        cdef LateLoad* late = &self.late_loads[number % MAX_LATE_LOADS]
        cdef int64_t cycles = waits + served.ready - self.now - self.caches.l1_latency
        if late.source and cycles <= late.cycles:
            return
        late.cycles = <uint32_t>max(cycles, 0)
        if served.level == LEVEL_L1:
            late.source = SOURCE_FILL_BUFFER if pending and served.ready > self.now + self.caches.l1_latency else SOURCE_L1
        else:
            late.source = SOURCE_L2 if served.level == LEVEL_L2 else SOURCE_L3 if served.level == LEVEL_L3 else SOURCE_MEMORY
            if served.level == LEVEL_L3 and self.says_snoops:
                late.source += served.snoop
        if walked:
            late.source |= SOURCE_STLB_MISS

    cdef void report_loads(self, IntervalBlock* plan, const uint64_t* addresses) noexcept nogil:
        """Tells the listener of all loads of the current block, before its time passes."""
        cdef uint32_t i
        cdef const IntervalAccess* access
        cdef LateLoad* late
        for i in range(plan.reached):
            access = &accesses_of(plan)[i]
            if not access.reads or addresses[i] == 0:
                continue
            late = &self.late_loads[i % MAX_LATE_LOADS]
            self.listener.precise_load(
                plan.number, access.instruction, addresses[i], self.now, self.caches.l1_latency + <int64_t>late.cycles,
                (late.source if late.source else SOURCE_L1) | (SOURCE_LOCKED if access.locked else 0))
            late.source, late.cycles = 0, 0

    cdef void store_response(self, IntervalBlock* plan, uint32_t number, uint64_t address, uint64_t end,
                             const RecentStore* store) noexcept nogil:
        """Handles a load of bytes which a store that is not in L1D yet wrote, or seems to have written. If their data was ready
        so long before the load's block dispatches that it was forwarded by then, L1D decides when the load is ready."""
        cdef int64_t now = self.core.state.dispatch
        if self.taken_back == number + 1 and store.ready >= 0:   # another core got the line since: after the store was in L1D
            respond(&self.responses, number, RESPONSE_IN_FLIGHT,
                    max(0, store.committed - now) + self.ticks * self.caches.snoop_modified)
        elif store.address <= address and end <= store.end:
            if self.recording and store.committed > now:
                record_forwarded(self, plan, number)
            if store.ready < 0:
                respond(&self.responses, number, RESPONSE_FORWARDED_HERE, -store.ready - 1)
            elif store.ready + self.forward_excess > now:
                respond(&self.responses, number, RESPONSE_FORWARDED, store.ready - now)
        elif store.committed <= now:
            pass
        elif store.address < end and address < store.end:
            self.blocked = self.recording
            if store.ready < 0:
                respond(&self.responses, number, RESPONSE_BLOCKED_HERE, -store.ready - 1)
            else:
                respond(&self.responses, number, RESPONSE_BLOCKED, store.committed - now)
        elif (store.address ^ address) & 0xFF8 == 0 and (store.address ^ address) > 0xFFF:
            self.blocked = self.recording
            respond(&self.responses, number, RESPONSE_ALIASED, 0)

    cdef void schedule(self, IntervalBlock* plan, uint64_t word) noexcept nogil:
        """Runs the block on the core, and lets its cycles pass."""
        if self.outcome:
            record_outcome(self, plan)
        if self.blocked:
            record_blocked(self, plan)
        if self.sources:
            record_sources(self, plan)
        self.core.accounting.detailed = self.tallies.detailed
        self.core.run(plan.core, self.responses.response, self.responses.count, self.end)
        self.now = self.core.cycle
        if self.counts_slots:
            add_slots(&self.slots, plan.core, &self.core.times, self.ticks)
        if self.recording:
            record_waits(self, plan)
        if self.tallies.executions:
            self.tallies.count_execution(self.plans, plan)
        if self.tallies.detailed:
            self.report_cycles(plan, word)
        if self.stores.timed != self.stores.count:
            time_stores(&self.stores, self.core.times.store)
        self.responses.count, self.responses.missed, self.end, self.taken_back = 0, 0, 0, 0

    cdef void report_cycles(self, IntervalBlock* plan, uint64_t word) noexcept nogil:
        """Counts and reports the cycles of the block that ran."""
        cdef CycleDelay delays[MAX_DELAYS]
        cdef uint32_t count = self.core.accounting.cycle_delays(delays)
        self.tallies.report_schedule(plan, delays, count, word)

    cdef uint32_t code_source(self, IntervalBlock* plan) noexcept nogil:
        """Returns where a block's µops come from. The µop cache still has a block that it had when the last window was entered:
        that is no use of the block, for LRU. A short loop of one block branches once a cycle, as from the loop buffer."""
        cdef uint64_t window, last, line
        cdef LruLine evicted
        cdef uint32_t source = FROM_UOP_CACHE, k
        if self.loops and self.loop_begin <= plan.ip <= self.loop_branch:
            return FROM_LOOP_BUFFER
        self.loops = False
        if self.code_windows is None or plan.core.lines == 0:
            return FROM_DECODERS
        if plan.in_uop_cache == self.entered_windows:
            return FROM_UOP_CACHE
        window, last = plan.ip >> CODE_WINDOW_SHIFT, (behind(plan) - 1) >> CODE_WINDOW_SHIFT
        while window <= last:
            for k in range(plan.core.lines):
                line = window | <uint64_t>k << LINE_OF_WINDOW_SHIFT if self.lines_share_set else window << 2 | k
                if use_line(&self.code_windows.rows, line) == NULL:
                    insert_line(&self.code_windows.rows, line, &evicted)
                    self.entered_windows += 1
                    source = FROM_DECODERS
            window += 1
        if source == FROM_UOP_CACHE:
            plan.in_uop_cache = self.entered_windows
        return source

    cdef void follow_loop(self, IntervalBlock* plan, uint64_t next_ip) noexcept nogil:
        """Follows a branch backward: the third time the loop buffer has its loop, if it is small enough."""
        if self.loop_branch == plan.last and self.loop_begin == next_ip:
            self.loops = self.loop_uops <= (self.loop_size if next_ip != plan.ip else max(self.loop_size, SHORT_LOOP))
        else:
            self.loops = False
        self.loop_branch, self.loop_begin, self.loop_uops = plan.last, next_ip, 0
