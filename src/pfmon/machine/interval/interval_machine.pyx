"""An out-of-order machine by interval simulation: reads the traced stream and gives blocks a time.

Instructions dispatch `core.width` in a cycle as long as nothing is in the way (one instruction, one slot). What is in the
way, interrupts that, and takes the cycles that it takes (Eyerman, Eeckhout et al., A Mechanistic Performance Model for
Superscalar Out-of-Order Processors): a line of instructions or its translation that is missing, a branch that was
mispredicted, from its dispatch to the first instruction of the right path, and data that comes so late that the window is
full (window.py). What executes, and for how long, is hidden behind that. See docs/out-of-order.md.
"""

cimport cython
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from pfmon.machine.interval.hierarchy cimport LEVEL_L1, LEVEL_L2, PAGE_SHIFT
from pfmon.machine.interval.recency cimport Line, is_latest, look, ready_of, set_of
from pfmon.machine.interval.block_plans cimport plan_of
from pfmon.machine.interval.flow_predictor cimport Verdict, foresees
from pfmon.machine.interval.tallies cimport (
    STALL_BRANCH, STALL_DTLB, STALL_ITLB, STALL_L1I, STALL_REDIRECT, STALL_STORES, STALL_WINDOW_L2, STALL_WINDOW_MEMORY,
    TALLY_DTLB_MISS, TALLY_ITLB_MISS,
    TALLY_L1D_READ_MISS, TALLY_L1D_WRITE_MISS, TALLY_L1I_MISS, TALLY_LLC_MISS, TALLY_LLC_REFERENCE,
    TALLY_LOAD_MISS_CYCLE, TALLY_MISPREDICTED, TALLY_STALL, tally, tally_dispatch,
)
from pfmon.machine.items cimport BlockItems
from pfmon.stream.failure cimport Failure
from pfmon.stream.table cimport ALWAYS, BranchKind
from pfmon.stream.words cimport BLOCK_MASK, Mark, mark_instruction, mark_kind, mark_value


cdef inline bint is_quick(IntervalMachine self, const Reached* access, uint64_t address) noexcept nogil:
    """Whether an access finds its line in L1D and its page in the first-level TLB, both as the latest of their sets or
    close to that; if so, it is made."""
    cdef uint64_t line = address >> self.shift
    cdef Line* found
    if (address + access.size - 1) >> self.shift != line or not is_latest(self.translations.data, address >> PAGE_SHIFT):
        return False
    found = set_of(self.caches.l1d, line)
    if found.number != line + 1 or ready_of(found) > self.now:
        return False
    found.ready |= access.writes
    return True


cdef inline void dispatch(IntervalMachine self, BlockPlan* plan, uint64_t word) noexcept nogil:
    """The block's instructions fill slots of dispatch groups; what they have to wait for comes behind."""
    tally_dispatch(self.tallies, plan, self.taken, self.width, word)
    self.now += plan.groups
    self.taken += plan.short_by
    if self.taken >= self.width:
        self.taken -= self.width
        self.now += 1
    if self.window.first != self.window.last:
        self.now = self.window.dispatch(plan, self.now)
    else:
        self.window.dispatched += plan.length


cdef inline void block_ran(IntervalMachine self, BlockPlan* plan, const uint64_t* words, const uint64_t* marks,
                           uint64_t mark_count, uint64_t next_ip) noexcept nogil:
    """A block ran, and control went to ``next_ip``."""
    cdef uint32_t quick = 0
    cdef bint taken, careful = self.tallies.careful
    if careful and self.items is not None:
        self.records.begin_log()
    if plan.first_line + 1 != self.line or not plan.simple:
        self.fetch_lines(plan)
    if mark_count == 0:
        while quick < plan.reached and is_quick(self, &plan.accesses[quick], words[1 + quick]):
            quick += 1
    if quick < plan.reached:
        self.make_accesses(plan, quick, words + 1, marks, mark_count)
    dispatch(self, plan, words[0])
    if plan.branch != BranchKind.NO_BRANCH:
        taken = True
        if plan.condition != ALWAYS:
            taken = (words[0] >> (32 + plan.condition)) & 1
            plan.held += taken
            if not foresees(self.predictor, plan.hash, taken):
                self.wrong_direction(plan, taken, next_ip)
                taken = False
        if taken:
            self.follow_branch(plan, next_ip)
    if self.window.late | self.window.late_loads:
        leave_window(self.window, plan, self.now)
    self.ran = plan
    if careful and self.items is not None:
        self.show_items(words, marks, mark_count)


cdef inline void leave_window(Window window, const BlockPlan* plan, int64_t now) noexcept nogil:
    """A block ran while something was pending."""
    if plan.flow == NULL or window.pending <= now:
        window.late = window.late_loads = 0
    else:
        window.leave_block(plan.flow, now)


@cython.final
cdef class IntervalMachine(EventSetConsumer):
    """``config``: the machine's figures; ``event_sets``: how many the records keep apart."""

    def __cinit__(self, config, BlockTable table, uint32_t event_sets=1):
        self.table, self.event_sets = table, event_sets
        self.records = Records(event_sets)
        self.records.use(0)
        self.width = config["core.width"]
        self.plans = BlockPlans(table, self.width, config["l1i.line"])
        self.tallies = Tallies(self.records)
        self.caches = Hierarchy(config)
        self.translations = Translations(config)
        self.predictor = FlowPredictor(config)
        self.window_cycles = config["core.window"] // self.width
        self.window = Window(self.tallies, config["core.window"], config["core.stores"])
        self.mispredict, self.redirect = config["predictor.mispredict"], config["predictor.redirect"]
        self.reference, self.frequency = config["machine.reference"], config["machine.frequency"]
        self.shift = self.caches.l1d.shift
        self.watches = [None] * event_sets
        self.cycles_of = <uint64_t*>calloc(event_sets, sizeof(uint64_t))
        if self.cycles_of == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.cycles_of)

    # --- the stream

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = self.read_marks(words, count), length, marks
        cdef BlockPlan* plan
        cdef BlockPlan* following
        if i == count:
            return
        following = plan_of(self.plans, words[i] & BLOCK_MASK)
        if self.held_count and following != NULL:
            self.run_held(following.ip)
        while following != NULL:
            if self.due:
                self.change_event_set()
            plan = following
            length = 1 + plan.reached
            marks = i + length
            while marks < count and words[marks] >> 63:
                marks += 1
            if marks == count:
                break
            following = plan_of(self.plans, words[marks] & BLOCK_MASK)
            if following != NULL:
                block_ran(self, plan, words + i, words + i + length, marks - i - length, following.ip)
                i = marks
        if following == NULL:
            self.fail(self.plans.failure)
            return
        if count - i > MOST_HELD:
            self.fail(Failure.BLOCK_TOO_LONG)
            return
        memcpy(self.held, words + i, (count - i) * sizeof(uint64_t))
        self.held_count = count - i

    cdef uint64_t read_marks(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Marks of the block that is held, or of none that is; how many there are."""
        cdef uint64_t i = 0
        while i < count and words[i] >> 63:
            if self.held_count:
                if self.held_count == MOST_HELD:
                    self.fail(Failure.TOO_MANY_MARKS)
                    return count
                self.held[self.held_count] = words[i]
                self.held_count += 1
            i += 1
        return i

    cdef void run_held(self, uint64_t next_ip) noexcept nogil:
        """The block that is held ran."""
        cdef BlockPlan* plan = plan_of(self.plans, self.held[0] & BLOCK_MASK)
        cdef uint64_t length = 1 + plan.reached, count = self.held_count
        self.held_count = 0
        self.run_whole(plan, self.held, self.held + length, count - length, next_ip)

    # --- a block

    cdef void run_whole(self, BlockPlan* plan, const uint64_t* words, const uint64_t* marks, uint64_t mark_count,
                        uint64_t next_ip) noexcept nogil:
        block_ran(self, plan, words, marks, mark_count, next_ip)

    cdef void show_items(self, const uint64_t* words, const uint64_t* marks, uint64_t mark_count) noexcept nogil:
        """Show what was recorded of the block that ran; NULL: of none."""
        cdef BlockItems shown
        memset(&shown, 0, sizeof(shown))
        self.records.logging = False
        shown.words, shown.marks, shown.mark_count = words, marks, <uint32_t>mark_count
        shown.items, shown.item_count = self.records.log, self.records.log_count
        self.items.take(&shown)

    cdef void stall(self, BlockPlan* plan, uint32_t instruction, uint32_t cause, int64_t until) noexcept nogil:
        """Nothing dispatches until a cycle."""
        if until > self.now:
            tally(self.tallies, plan, instruction, TALLY_STALL + cause, <uint64_t>(until - self.now))
            self.now = until

    cdef void fetch_lines(self, BlockPlan* plan) noexcept nogil:
        """The lines that hold the block's instructions; the one that was fetched last is still there."""
        cdef uint64_t line = plan.first_line
        cdef const Line* found
        while line <= plan.last_line:
            if line + 1 != self.line:
                self.line = line + 1
                found = set_of(self.caches.l1i, line)
                if found.number != line + 1 or ready_of(found) > self.now \
                        or not is_latest(self.translations.code, line >> (PAGE_SHIFT - self.plans.line_shift)):
                    self.fetch_line(plan, line)
            line += 1

    cdef void fetch_line(self, BlockPlan* plan, uint64_t line) noexcept nogil:
        """A line of instructions that was not the latest of its set, or whose page was not."""
        cdef uint64_t page = line >> (PAGE_SHIFT - self.plans.line_shift)
        cdef bint walked = False
        cdef Served served
        if look(self.translations.code, page) == NULL:
            self.stall(plan, 0, STALL_ITLB,
                       self.now + self.translations.miss(self.translations.code, page, self.translations.shared, &walked))
            if walked:
                tally(self.tallies, plan, 0, TALLY_ITLB_MISS, 1)
        self.caches.fetch(line << self.plans.line_shift, self.now, &served)
        if served.level != LEVEL_L1:
            tally(self.tallies, plan, 0, TALLY_L1I_MISS, 1)
            self.note_last_level(plan, 0, &served)
        self.stall(plan, 0, STALL_L1I, served.ready)

    cdef void make_accesses(self, BlockPlan* plan, uint32_t first, const uint64_t* addresses, const uint64_t* marks,
                            uint64_t mark_count) noexcept nogil:
        """The block's accesses from ``first`` on, in order. One that was not made has no address."""
        cdef uint32_t i
        cdef uint64_t k, address, size
        cdef const Reached* access
        for i in range(first, plan.reached):
            access, address = &plan.accesses[i], addresses[i]
            size = access.size
            if address == 0 or (mark_count == 0 and is_quick(self, access, address)):
                continue
            for k in range(mark_count):
                if mark_kind(marks[k]) == Mark.STRING and mark_instruction(marks[k]) == access.instruction:
                    size += mark_value(marks[k])
            self.access(plan, i, address, size)

    cdef void access(self, BlockPlan* plan, uint32_t number, uint64_t address, uint64_t size) noexcept nogil:
        """An access that is not known to find everything: its lines, one after the other."""
        cdef const Reached* access = &plan.accesses[number]
        cdef uint64_t shift = self.shift, line = address >> shift, last = (address + size - 1) >> shift
        cdef int64_t began = self.now, found
        cdef Served served
        cdef bint walked
        if self.window.pending > self.now:
            began = self.window.ready(&access.address, began)
        while line <= last:
            walked = False
            found = began
            if look(self.translations.data, line >> (PAGE_SHIFT - self.shift)) == NULL:
                found += self.translations.miss(
                    self.translations.data, line >> (PAGE_SHIFT - self.shift), True, &walked)
            self.caches.data(line << shift, access.writes, found, &served)
            self.note_access(plan, access, &served, walked, began)
            if served.level == LEVEL_L1 and served.ready <= began + self.caches.l1_latency:
                pass
            elif access.reads:
                self.late_load(plan, number, &served, found > began)
            elif served.level != LEVEL_L1:
                self.stall(plan, access.instruction, STALL_STORES, self.window.store(self.now, served.ready))
            line += 1

    cdef void late_load(self, BlockPlan* plan, uint32_t number, const Served* served, bint translated) noexcept nogil:
        """A load whose data comes late. If it is there before the instructions behind it have filled the window, nothing
        has to wait but what reads its result."""
        cdef uint32_t cause = STALL_WINDOW_L2 + served.level - LEVEL_L2
        self.window.load(number, served.ready)
        if served.ready <= self.now + self.window_cycles:
            return
        if served.level == LEVEL_L1:             # on its way
            cause = STALL_DTLB if translated else STALL_WINDOW_MEMORY
        self.window.wait_for(plan, plan.accesses[number].instruction, served.ready, TALLY_STALL + cause)

    cdef void note_access(self, BlockPlan* plan, const Reached* access, const Served* served, bint walked,
                          int64_t began) noexcept nogil:
        if walked:
            tally(self.tallies, plan, access.instruction, TALLY_DTLB_MISS, 1)
        if served.level == LEVEL_L1:
            return
        if access.reads:
            tally(self.tallies, plan, access.instruction, TALLY_L1D_READ_MISS, 1)
            tally(self.tallies, plan, access.instruction, TALLY_LOAD_MISS_CYCLE, <uint64_t>(served.ready - began))
        else:
            tally(self.tallies, plan, access.instruction, TALLY_L1D_WRITE_MISS, 1)
        self.note_last_level(plan, access.instruction, served)

    cdef void note_last_level(self, BlockPlan* plan, uint32_t instruction, const Served* served) noexcept nogil:
        if served.references:
            tally(self.tallies, plan, instruction, TALLY_LLC_REFERENCE, served.references)
        if served.misses:
            tally(self.tallies, plan, instruction, TALLY_LLC_MISS, served.misses)

    cdef void follow_branch(self, BlockPlan* plan, uint64_t next_ip) noexcept nogil:
        """The block's branch was taken, as was foreseen."""
        cdef Verdict verdict = self.predictor.follow(plan.branch, plan.last, plan.behind, next_ip, &plan.target_place)
        if verdict == Verdict.LATE:
            self.stall(plan, plan.length - 1, STALL_REDIRECT, self.now + self.redirect)
        elif verdict == Verdict.MISPREDICTED:
            self.mispredicted(plan)

    cdef void wrong_direction(self, BlockPlan* plan, bint taken, uint64_t next_ip) noexcept nogil:
        """The block's branch went where nobody thought."""
        if taken:
            self.predictor.known_target(plan.last, next_ip, &plan.target_place)
        self.mispredicted(plan)

    cdef void mispredicted(self, BlockPlan* plan) noexcept nogil:
        """The block's branch was mispredicted: that is found out when its operands are there."""
        cdef int64_t resolved = self.now
        tally(self.tallies, plan, plan.length - 1, TALLY_MISPREDICTED, 1)
        if plan.flow != NULL and self.window.pending > self.now:
            resolved = self.window.ready(&plan.flow.branch, resolved)
        self.stall(plan, plan.length - 1, STALL_BRANCH, resolved + self.mispredict)

    # --- event sets

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        """From the next instruction on this event set is in force; a block that is held still belongs to the one before."""
        self.turn = event_set
        self.due = True
        if self.held_count == 0:
            self.change_event_set()

    cdef void change_event_set(self) noexcept nogil:
        """The event set that is to be in force is."""
        self.due = False
        if self.turn != self.event_set:
            self.write_out()
            self.event_set = self.turn
            self.records.use(self.event_set)
            if self.items is not None:
                self.items.use_event_set(self.event_set)
            if self.watched:
                with gil:
                    self.watch_cycles()

    cdef int watch_cycles(self) except -1:
        """Who looks at the cycles of the event set in force."""
        self.tallies.watch = self.watches[self.event_set]
        self.tallies.careful = self.tallies.shown or self.tallies.watch is not None
        return 0

    cdef void write_out(self) noexcept nogil:
        """What happened up to now is in the records, and belongs to the event set in force."""
        self.tallies.write_out(self.width)
        self.cycles_of[self.event_set] += <uint64_t>(self.now - self.shared)
        self.shared = self.now
        if self.records.lost or self.tallies.lost:
            self.fail(Failure.OUT_OF_MEMORY)

    def switch_event_set(self, uint32_t event_set):
        """As `use_event_set`: from the next instruction on this event set is in force."""
        self.use_event_set(event_set)

    def settle(self, uint64_t next_ip):
        """Bring the records up to the instruction at ``next_ip``."""
        if self.held_count:
            self.run_held(next_ip)
        if self.due:
            self.change_event_set()
        self.write_out()

    # --- what Python reads

    def show(self, Items items):
        """Show what is recorded to ``items`` when it is, block by block. Before the stream begins."""
        self.items, self.tallies.shown, self.tallies.careful = items, True, True

    def tell(self, watch, uint32_t event_set=0):
        """A watch is told of nothing: PMUs with event address registers have other machines."""
        if watch is not None:
            raise ValueError("an out-of-order machine tells nobody of its accesses and branches")

    def tell_cycles(self, CycleWatch watch, uint32_t event_set=0):
        """Show a watch every cycle while an event set is in force, and those that follow it."""
        self.watches[event_set] = watch
        self.watched |= watch is not None
        if event_set == self.event_set:
            self.watch_cycles()

    def finish(self):
        """The stream has ended: bring the records up to date. May be called again."""
        cdef uint32_t part
        if self.held_count:
            self.run_held(plan_of(self.plans, self.held[0] & BLOCK_MASK).behind)
        if self.taken and self.ran != NULL:      # a group that is not full
            self.show_last_group()
            self.taken = 0
            self.now += 1
        self.write_out()

    cdef void show_last_group(self) noexcept nogil:
        """The last instructions take a cycle, too."""
        cdef uint32_t last = self.ran.length - 1
        cdef uint32_t part = self.records.part(
            self.ran.number | <uint64_t>last << 32 | <uint64_t>last << 40, 1, 0, 0, 0)
        self.records.begin_log()
        self.records.add_cycle(part)
        if self.tallies.watch is not None:
            self.tallies.end_cycle(self.tallies.watch, self.ran, last)
        if self.items is not None:
            self.show_items(NULL, NULL, 0)
        self.records.logging = False

    @property
    def cycles(self) -> int:
        """Cycles so far."""
        return self.now

    # as of `settle` or `finish`; ``event_sets``: of which, None: of all

    def time(self, event_sets=None):
        """Cycles of the core and of the reference clock, whole ones."""
        places = range(self.event_sets) if event_sets is None else tuple(event_sets)
        cycles = sum([self.cycles_of[place] for place in places])
        return cycles, cycles * self.reference // self.frequency

    def occurrences(self, event_sets=None):
        """{(block or None, instruction, Occurrence, in the data ranges): times}."""
        return self.records.occurrences(event_sets)

    def bubbles(self, event_sets=None):
        """(block, instruction, Cause, cycles): cycles in which nothing dispatched."""
        return self.records.bubbles(0, event_sets)

    def levels(self, event_sets=None):
        """It has none of the numbers that stand for a while."""
        return {}
