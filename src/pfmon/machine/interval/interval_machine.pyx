"""An out-of-order machine by interval simulation: reads the traced stream and times its blocks.

`core.width` instructions dispatch in a cycle until a miss event (one instruction, one slot). Miss events interrupt that
for their latency (Eyerman, Eeckhout et al., A Mechanistic Performance Model for Superscalar Out-of-Order Processors): a
missing line of instructions or its translation, a mispredicted branch, from its dispatch to the first instruction of
the right path, and data that arrives so late that the window is full (window.pyx). Execution and its latencies are
hidden behind that. See docs/dev/machines.md.
"""

cimport cython
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from pfmon.stream._stream cimport ALWAYS, BranchKind, Failure, Mark, mark_instruction, mark_kind, mark_value


cdef extern from *:
    """
    #define pfmon_prefetch(where) __builtin_prefetch(where, 1)
    """
    void prefetch "pfmon_prefetch"(void*) nogil


cdef inline void make_access(IntervalMachine self, IntervalBlock* plan, uint32_t number, uint64_t address,
                             uint64_t size) noexcept nogil:
    """Performs an access of a block. One to the most recent line of its set in L1D, and the most recent page of its
    set in the first-level TLB, changes nothing."""
    cdef const IntervalAccess* access = &accesses_of(plan)[number]
    cdef uint64_t line = address >> self.shift
    cdef const LruLine* page = lru_set(&self.dtlb, address >> PAGE_SHIFT)
    cdef LruLine* found = lru_set(&self.l1d, line)
    if ((address + size - 1) >> self.shift == line) & (page.number == (address >> PAGE_SHIFT) + 1) \
            & (found.number == line + 1) & (ready_of(found) <= self.now) \
            & ((found.ready & access.writes << LINE_SHARED - 1) == 0):
        found.ready |= access.writes
    else:
        self.address = address
        self.use_lines(plan, number, line, (address + size - 1) >> self.shift)
    if self.has_core:
        if access.reads and size <= MAX_STORE_BYTES:
            load_stored(self, plan, number, address, size)
        if access.writes:
            put_store(&self.stores, address, access.size, number)


cdef inline void load_stored(IntervalMachine self, IntervalBlock* plan, uint32_t number, uint64_t address,
                             uint64_t size) noexcept nogil:
    """Loads bytes that a store may forward."""
    cdef uint64_t last = address + size - 1
    cdef int64_t committed = self.core.state.dispatch - self.forward_excess
    cdef const RecentStore* store = store_at(&self.stores, address)
    if store.committed > committed:
        self.store_response(plan, number, address, address + size, store)
    if (last ^ address) >> STORE_GRANULE:
        store = store_at(&self.stores, last)
        if store.committed > committed and (self.responses.count == 0 or
                                            self.responses.response[self.responses.count - 1].access != number):
            self.store_response(plan, number, address, address + size, store)


cdef inline void fetch_lines(IntervalMachine self, IntervalBlock* plan) noexcept nogil:
    """Fetches the lines of the block's instructions; the one fetched last is still there."""
    cdef uint64_t line = plan.first_line, last = line + plan.more_lines
    cdef const LruLine* found
    cdef bint translated
    while line <= last:
        if line + 1 != self.line:
            self.line = line + 1
            translated = use_line(&self.itlb, line >> self.page_lines) != NULL
            found = use_line(&self.l1i, line)
            if not translated or found == NULL or ready_of(found) > self.now:
                self.late_code(plan, line, found, translated)
        line += 1


cdef inline void dispatch(IntervalMachine self, IntervalBlock* plan, uint64_t word) noexcept nogil:
    """Dispatches the block's instructions into slots of dispatch groups; their waits are added afterwards."""
    cdef uint32_t taken = self.taken, full
    tally_dispatch(self.tallies, plan, taken, self.width, word)
    taken += plan.short_by
    full = taken >= self.width
    self.taken = taken - (self.width & (0 - full))
    self.now += plan.groups + full
    if self.window.first != self.window.last:
        self.now = self.window.dispatch(plan, self.now)
    else:
        self.window.dispatched += plan.length


cdef inline void branch(IntervalMachine self, IntervalBlock* plan, uint64_t word, uint64_t next_ip) noexcept nogil:
    """Predicts the block's branch, if it has one, and compares."""
    cdef bint taken = True
    if plan.branch == BranchKind.NO_BRANCH:
        return
    if plan.condition != ALWAYS:
        taken = (word >> (32 + plan.condition)) & 1
        if not predict_direction(self.predictor, branch_hash(plan.last), taken):
            self.wrong_direction(plan, taken, next_ip)
            return
    if taken and not (plan.branch == BranchKind.DIRECT and follows(self.predictor, plan.last, next_ip)):
        self.follow_branch(plan, next_ip)


cdef inline void run_path(IntervalMachine self, IntervalPath* path, const uint64_t* words, uint64_t mark_count,
                          uint64_t next_ip) noexcept nogil:
    """Runs the blocks of a word, with its addresses and marks; control goes to ``next_ip``."""
    cdef const uint64_t* addresses = words + 1
    cdef PathStep* step = steps_of(path)
    cdef PathStep* last = step + (path.blocks - 1)
    path.runs[words[0] >> path.condition_bit & 1] += 1
    while step < last:
        prefetch(step[1].block.core)
        run_block(self, step.block, step.word, addresses, 0, step[1].block.ip)
        addresses += step.block.reached
        step += 1
    run_block(self, step.block, words[0], addresses, mark_count, next_ip)


cdef inline void run_block(IntervalMachine self, IntervalBlock* plan, uint64_t word, const uint64_t* addresses,
                           uint64_t mark_count, uint64_t next_ip) noexcept nogil:
    """Runs a block, with marks behind its addresses; control goes to ``next_ip``."""
    cdef uint32_t i
    cdef bint detailed = self.tallies.detailed
    if detailed and self.observer is not None:
        self.records.begin_log()
        if self.unfollowed != NULL:
            self.follow_late(plan.ip)
    if self.listener is not None:
        self.listener.begin()
    if (plan.first_line + 1 != self.line) | (plan.more_lines != 0):
        fetch_lines(self, plan)
    if mark_count == 0:
        for i in range(plan.reached):
            make_access(self, plan, i, addresses[i], accesses_of(plan)[i].size)
    else:
        self.make_accesses(plan, addresses, addresses + plan.reached, mark_count)
    if self.listener is not None and self.listener.precise:
        self.report_loads(plan, addresses)
    if self.has_core:
        run_scheduled(self, plan, word, next_ip)
    else:
        dispatch(self, plan, word)
        branch(self, plan, word, next_ip)
    if self.window.late | self.window.late_loads:
        leave_window(self.window, plan, self.now)
    self.ran = plan
    if self.listener is not None:
        self.record_captures(plan)
    if detailed and self.observer is not None:
        self.report_block(addresses - 1, addresses + plan.reached, mark_count)


cdef inline void run_scheduled(IntervalMachine self, IntervalBlock* plan, uint64_t word, uint64_t next_ip) noexcept nogil:
    """Predicts the block's branch, and schedules the block."""
    cdef bint taken = next_ip != behind(plan)
    self.end |= taken | self.code_source(plan) << END_SOURCE_SHIFT
    branch(self, plan, word, next_ip)
    self.loop_uops += plan.core.slots
    if taken and next_ip <= plan.last and plan.last - next_ip < 1 << 10:
        self.follow_loop(plan, next_ip)
    self.schedule(plan, word)


cdef inline void leave_window(Window window, const IntervalBlock* plan, int64_t now) noexcept nogil:
    """Removes a block that ran from the window while something was pending."""
    if plan.flow == NULL or window.pending <= now:
        window.late = window.late_loads = 0
    else:
        window.retire_block(plan.flow, now)


@cython.final
cdef class IntervalMachine(MissEvents):
    """``config``: the machine's figures; ``event_sets``: number of event sets in the records."""

    def __cinit__(self, config, BlockTable table, uint32_t event_sets=1, timings=None, bint graphs=True,
                  CoherentCaches cores=None, uint32_t core=0, MissEvents beside=None):
        self.event_sets = event_sets
        self.paths = IntervalPaths(self.plans)
        self.reference, self.frequency = config["machine.reference"], config["machine.frequency"]
        self.listeners, self.capture_listeners = [None] * event_sets, [None] * event_sets
        self.cycles_of = <uint64_t*>calloc(event_sets, sizeof(uint64_t))
        if self.cycles_of == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.cycles_of)

    # --- the stream

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = self.read_marks(words, count)
        cdef IntervalPath* first
        if i == count:
            return
        first = path_of_word(self.paths, words[i])
        if self.held_count and first != NULL:
            self.run_held(first.ip)
        elif self.unfollowed != NULL and self.observer is None and first != NULL:
            self.follow_late(first.ip)
        i += self.run_words(words + i, count - i, 0)
        if self.paths.failure:
            self.fail(self.paths.failure)
        elif count - i > MAX_WORD_SPAN:
            self.fail(Failure.BLOCK_TOO_LONG)
        else:
            memcpy(self.held, words + i, (count - i) * sizeof(uint64_t))
            self.held_count = count - i

    cdef bint take_paths(self, PathTable paths) noexcept:
        """Takes words of paths, unless something happens between their blocks."""
        if self.observer is not None or self.event_sets > 1:
            return False
        self.paths.paths = paths
        return True

    cdef uint64_t run_words(self, const uint64_t* words, uint64_t count, uint64_t after) noexcept nogil:
        """Runs words, from the first on; returns their number. The last one waits for the next, unless control went
        from it to ``after``."""
        cdef uint64_t i = 0, marks, next_ip
        cdef IntervalPath* path = path_of_word(self.paths, words[0])
        cdef IntervalPath* following
        while path != NULL:
            marks = i + 1 + path.reached
            while marks < count and words[marks] >> 63:
                marks += 1
            following, next_ip = NULL, after
            if marks < count:
                following = path_of_word(self.paths, words[marks])
                if following == NULL:
                    break
                next_ip = following.ip
                prefetch(steps_of(following).block)
            elif after == 0:
                break
            run_path(self, path, words + i, marks - i - 1 - path.reached, next_ip)
            if self.due:
                self.change_event_set()
            path, i = following, marks
        return i

    cdef uint64_t read_marks(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Reads marks of the held word, or of none; returns their number."""
        cdef uint64_t i = 0
        while i < count and words[i] >> 63:
            if self.held_count:
                if self.held_count == MAX_WORD_SPAN:
                    self.fail(Failure.TOO_MANY_MARKS)
                    return count
                self.held[self.held_count] = words[i]
                self.held_count += 1
            i += 1
        return i

    cdef void run_held(self, uint64_t next_ip) noexcept nogil:
        """Runs the held word."""
        cdef uint64_t count = self.held_count
        self.held_count = 0
        self.run_words(self.held, count, next_ip)

    cdef void end_turn(self) noexcept nogil:
        cdef IntervalPath* path
        cdef const IntervalBlock* last
        if self.held_count == 0:
            return
        path = path_of_word(self.paths, self.held[0])
        last = steps_of(path)[path.blocks - 1].block
        if last.branch == BranchKind.NO_BRANCH or (
                path.condition_bit != NO_CONDITION_BIT and self.held[0] >> path.condition_bit & 1 == 0):
            self.run_held(behind(last))
        else:
            self.run_held(UNKNOWN_IP)

    # --- a block

    cdef void report_block(self, const uint64_t* words, const uint64_t* marks, uint64_t mark_count) noexcept nogil:
        """Shows the records of the block that ran; NULL: of none."""
        cdef ObservedBlock shown
        memset(&shown, 0, sizeof(shown))
        self.records.logging = False
        shown.words, shown.marks, shown.mark_count = words, marks, <uint32_t>mark_count
        shown.items, shown.item_count = self.records.log, self.records.log_count
        shown.now = <uint64_t>(self.now if self.core is None else self.core.state.retired // self.core.figures.ticks)
        shown.mispredicted, self.wrong = self.wrong, False
        self.observer.on_block(&shown)

    cdef void make_accesses(self, IntervalBlock* plan, const uint64_t* addresses, const uint64_t* marks,
                            uint64_t mark_count) noexcept nogil:
        """Performs the accesses of a block with marks, in order: string instructions carry their extent in a mark."""
        cdef uint32_t i
        cdef uint64_t k, size
        for i in range(plan.reached):
            size = accesses_of(plan)[i].size
            for k in range(mark_count):
                if mark_kind(marks[k]) == Mark.STRING \
                        and mark_instruction(marks[k]) == accesses_of(plan)[i].instruction:
                    size += mark_value(marks[k])
            if self.core is not None and size != accesses_of(plan)[i].size:
                respond(&self.responses, i, RESPONSE_STRING, <int64_t>size)
            if addresses[i]:
                make_access(self, plan, i, addresses[i], size)

    cdef void record_captures(self, IntervalBlock* plan) noexcept nogil:
        """Attributes the captures made while the block ran to its instructions."""
        cdef uint32_t k
        cdef Captured* one
        self.listener.gather()
        for k in range(self.listener.count):
            one = &self.listener.captured[k]
            one.item = self.records.log_count
            self.tallies.record_part(plan, one.instruction, one.occurrence, 1)
        if self.listener.lost:
            self.fail(Failure.TOO_MANY_OCCURRENCES)

    # --- event sets

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        """Switches to this event set before the next instruction; a held block still belongs to the one before."""
        self.next_event_set = event_set
        self.due = True
        if self.held_count == 0:
            self.change_event_set()

    cdef void change_event_set(self) noexcept nogil:
        """Puts the pending event set in force."""
        self.due = False
        if self.next_event_set != self.event_set:
            self.write_out()
            self.event_set = self.next_event_set
            self.records.use(self.event_set)
            if self.observer is not None:
                self.observer.use_event_set(self.event_set)
            if self.has_listener:
                with gil:
                    self.set_cycle_listener()

    cdef int set_cycle_listener(self) except -1:
        """Sets the listeners for cycles and misses of the event set in force."""
        self.tallies.listener, self.listener = self.listeners[self.event_set], self.capture_listeners[self.event_set]
        self.tallies.detailed = self.tallies.shown or self.tallies.listener is not None
        return 0

    cdef void write_out(self) noexcept nogil:
        """Writes events so far to the records of the event set in force."""
        cdef int64_t elapsed = self.now
        self.records.use(self.event_set)
        if self.core is not None:
            self.tallies.write_ticks(self.core.accounting, self.plans)
            elapsed = self.core.state.retired // self.core.figures.ticks
        self.tallies.write_out(self.width)
        self.cycles_of[self.event_set] += <uint64_t>(elapsed - self.shared)
        self.shared = elapsed
        if self.records.lost or self.tallies.lost or (self.core is not None and self.core.accounting.lost):
            self.fail(Failure.OUT_OF_MEMORY)

    def switch_event_set(self, uint32_t event_set):
        """As `use_event_set`: switches to this event set before the next instruction."""
        self.use_event_set(event_set)

    def update_records(self, uint64_t next_ip):
        """Brings the records up to the instruction at ``next_ip``."""
        if self.held_count:
            self.run_held(next_ip)
        self.write_out()

    def show_records(self):
        """Makes the records so far readable, without those of held blocks."""
        self.write_out()

    # --- interface for Python

    def set_observer(self, RecordObserver observer):
        """Shows records to ``items`` as they are made, block by block. Before the stream begins."""
        self.observer, self.tallies.shown, self.tallies.detailed = observer, True, True

    def listen(self, CaptureListener listener, uint32_t event_set=0):
        """Notifies a capture listener (None: none) of misses while an event set is in force; not of branches."""
        self.capture_listeners[event_set] = listener
        self.has_listener |= listener is not None
        if event_set == self.event_set:
            self.set_cycle_listener()

    def listen_to_cycles(self, CycleListener listener, uint32_t event_set=0):
        """Notifies a listener, and those after it, of every cycle while an event set is in force."""
        self.listeners[event_set] = listener
        self.has_listener |= listener is not None
        if event_set == self.event_set:
            self.set_cycle_listener()

    def finish(self):
        """Ends the stream: brings the records up to date. May be called again."""
        cdef IntervalPath* path
        if self.held_count:
            path = path_of_word(self.paths, self.held[0])
            self.run_held(behind(steps_of(path)[path.blocks - 1].block))
        if self.tallies.listener is not None and self.tallies.open_plan != NULL:
            self.tallies.close_cycle(self.tallies.listener)
        if self.taken and self.ran != NULL:      # a partial dispatch group
            self.report_last_group()
            self.taken = 0
            self.now += 1
        self.write_out()

    cdef void report_last_group(self) noexcept nogil:
        """Counts the cycle of the last instructions."""
        cdef uint32_t last = self.ran.length - 1
        cdef uint32_t part = self.records.part(
            self.ran.number | <uint64_t>last << 32 | <uint64_t>last << 40, 1, 0, 0, 0)
        self.records.begin_log()
        self.records.add_cycle(part)
        if self.tallies.listener is not None:
            self.tallies.end_cycle(self.tallies.listener, self.ran, last)
        if self.observer is not None:
            self.report_block(NULL, NULL, 0)
        self.records.logging = False

    def omissions(self):
        """(text, share of the instructions) of what the model leaves out of what ran so far."""
        return [] if self.timings is None else self.timings.omissions(executed_forms(self.paths))

    @property
    def cycles(self) -> int:
        """Cycles so far."""
        return self.now if self.core is None else self.core.state.retired // self.core.figures.ticks

    # as of `update_records` or `finish`; ``event_sets``: those included, None: all

    def time(self, event_sets=None):
        """Cycles of the core and of the reference clock, integers."""
        places = range(self.event_sets) if event_sets is None else tuple(event_sets)
        cycles = sum([self.cycles_of[place] for place in places])
        return cycles, cycles * self.reference // self.frequency

    def kernel_clock(self, event_sets=None):
        """0: the operating system takes no time."""
        return 0

    def occurrences(self, event_sets=None):
        """{(block or None, instruction, Occurrence, in the data ranges): times}."""
        return self.records.occurrences(event_sets)

    def bubbles(self, event_sets=None):
        """(block, instruction, Cause, cycles): cycles in which nothing dispatched."""
        return self.records.bubbles(0, event_sets)

    def levels(self, event_sets=None):
        """Empty: it has no levels."""
        return {}
