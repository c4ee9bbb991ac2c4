"""A machine without time: misses of caches and TLBs, and mispredictions, of a traced stream.

It reads the words of paths, if the engine writes them, and those of blocks. A word's plan runs at once: its lines of
instructions, if any order could have changed since they were all the most recent of their sets; its accesses, of which
one to the most recent line of its set of L1D and the most recent page of its set of the DTLB changes nothing; its
branches. Whatever is irregular can be passed to a listener: a model of time. See docs/dev/machines.md.
"""

cimport cython
from libc.string cimport memcpy

from pfmon.stream._stream cimport ALWAYS, BLOCK_MASK, BlockHead, BranchKind, Failure, Mark, mark_instruction, \
    mark_kind, mark_value


cdef class MissListener:
    """The base class ignores what ran."""

    cdef void ran(self, const WordPlan* plan, uint64_t word, const uint64_t* addresses, const MissEvent* events,
                  uint32_t count) noexcept nogil:
        pass


cdef inline bint condition_of(const BranchStep* step, uint64_t word) noexcept nogil:
    """Whether the condition of a plan's last branch held."""
    return step.condition != ALWAYS and word >> (32 + step.condition) & 1


cdef inline uint64_t irregular(const uint64_t* lines, uint64_t line_mask, const uint64_t* pages, uint64_t page_mask,
                               uint64_t address, uint64_t size, uint32_t shift) noexcept nogil:
    """0: an access changes nothing, as its line is the most recent of its set, and modified if it writes, and so is its
    page, and it ends in that line. ``size``: as in a plan."""
    cdef uint64_t line = address >> shift, page = address >> PAGE_SHIFT
    return (((lines[line & line_mask] | size >> NO_WRITE_SHIFT) ^ (line << 1 | 1)) | (pages[page & page_mask] ^ page)
            | ((address + (size & ACCESS_BYTES)) >> shift ^ line))


cdef inline uint32_t use_accesses(MissMachine self, WordPlan* plan, const uint64_t* addresses, uint32_t first,
                                  uint32_t end, uint64_t code_changes, uint32_t shift) noexcept nogil:
    """Makes accesses of a plan, up to one after which the order of lines of instructions is no longer this; returns the
    number of the next one."""
    cdef const uint64_t* lines = self.caches.recent_line
    cdef const uint64_t* pages = self.caches.recent_page
    cdef const uint16_t* sizes = plan.sizes
    cdef uint64_t line_mask = self.caches.recent_line_mask, page_mask = self.caches.recent_page_mask
    cdef uint32_t k
    for k in range(first, end):
        if irregular(lines, line_mask, pages, page_mask, addresses[k], sizes[k], shift):
            self.use_lines(plan, k, addresses[k], (sizes[k] & ACCESS_BYTES) + 1)
            if self.caches.code_changes != code_changes:
                return k + 1
    return end


cdef inline bint has_recent_lines(MissMachine self, WordPlan* plan) noexcept nogil:
    """Whether all lines of a plan's instructions, and their pages, are the most recent of their sets: to fetch them
    changes nothing."""
    cdef const CodeLine* line = plan.lines
    cdef const CodeLine* end = line + plan.line_count
    cdef uint32_t other = 0
    if plan.code_changes == self.caches.code_changes:
        return True
    while line < end:
        other |= (line.line[0] ^ line.line_member) | (line.page[0] ^ line.page_member)
        line += 1
    if other == 0:
        plan.code_changes = self.caches.code_changes
    return other == 0


cdef inline void resolve_branch(MissMachine self, WordPlan* plan, const BranchStep* step) noexcept nogil:
    """Predicts a branch of a plan, and compares."""
    if step.condition != ALWAYS \
            and not predict_with(self.predictor, step.hash, step.counter, step.loops, step.taken):
        if step.taken:
            self.predictor.take_unforeseen(step.address, step.target)
        self.mispredicted(plan, step)
    elif step.taken:
        if step.kind == BranchKind.DIRECT and not self.predictor.direct_targets:
            follow_path(self.predictor, step.address, step.target)
        elif self.predictor.follow(step.kind, step.address, step.behind, step.target) == BranchVerdict.MISPREDICTED:
            self.mispredicted(plan, step)


cdef inline void run_plan(MissMachine self, WordPlan* plan, const uint64_t* words, uint64_t next_ip) noexcept nogil:
    """Runs the blocks of a word; control goes to ``next_ip``."""
    cdef uint8_t held = words[0] >> plan.condition_bit & 1
    cdef const BranchStep* step = plan.steps
    cdef const BranchStep* end = step + plan.all_steps
    plan.runs[held] += 1
    plan.last.taken, plan.last.target = held | (plan.condition_bit == NO_CONDITION_BIT), next_ip
    if self.mark_count == 0 and has_recent_lines(self, plan):
        self.line = plan.last_line + 1
        if plan.accesses:
            self.run_accesses(plan, words + 1)
    else:
        self.run_in_order(plan, words + 1, 0)
    while step < end:
        resolve_branch(self, plan, step)
        step += 1
    if self.listening:
        self.listener.ran(plan, words[0], words + 1, self.events, self.event_count)
        self.event_count = 0


@cython.final
cdef class MissMachine(RunCounter):
    """``config``: the machine's figures. The marks of a word follow it; one event set is all that there is."""

    def __cinit__(self, config, BlockTable table):
        self.records = Records(1)
        self.records.use(0)
        self.caches, self.predictor = CacheContents(config), IntervalPredictor(config)
        self.predictor.direct_targets = not config["predictor.indirect"]
        self.plans, self.line_shift = WordPlans(table, self.caches, self.predictor), self.caches.l1d.rows.shift

    # --- the stream

    cdef bint take_paths(self, PathTable paths) noexcept:
        self.plans.paths = paths
        return True

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = self.read_marks(words, count)
        cdef WordPlan* first
        if i == count:
            return
        first = plan_of_word(self.plans, words[i])
        if self.held_count and first != NULL:
            self.run_held(first.ip)
        i += self.run_words(words + i, count - i, 0)
        if self.plans.failure:
            self.fail(self.plans.failure)
        elif self.caches.too_many_regions:
            self.fail(Failure.TOO_MANY_REGIONS)
        elif count - i > MAX_WORD_SPAN:
            self.fail(Failure.BLOCK_TOO_LONG)
        else:
            memcpy(self.held, words + i, (count - i) * sizeof(uint64_t))
            self.held_count = count - i

    cdef uint64_t run_words(self, const uint64_t* words, uint64_t count, uint64_t after) noexcept nogil:
        """Runs words, from the first on; returns their number. The last one waits for the next, unless control went
        from it to ``after``."""
        cdef uint64_t i = 0, next_word, next_ip
        cdef WordPlan* plan = plan_of_word(self.plans, words[0])
        cdef WordPlan* following
        while plan != NULL:
            next_word = i + 1 + plan.accesses
            if next_word < count and words[next_word] >> 63:
                self.marks = words + next_word
                while next_word < count and words[next_word] >> 63:
                    next_word += 1
                self.mark_count = words + next_word - self.marks
            following, next_ip = NULL, after
            if next_word < count:
                following = plan_of_word(self.plans, words[next_word])
                if following == NULL:
                    break
                next_ip = following.ip
            elif after == 0:
                break
            run_plan(self, plan, words + i, next_ip)
            self.mark_count = 0
            plan, i = following, next_word
        self.mark_count = 0
        return i

    cdef uint64_t read_marks(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Reads marks of the held word, or of none; returns their number."""
        cdef uint64_t i = 0
        while i < count and words[i] >> 63:
            if self.held_count == MAX_WORD_SPAN:
                self.fail(Failure.TOO_MANY_MARKS)
                return count
            if self.held_count:
                self.held[self.held_count] = words[i]
                self.held_count += 1
            i += 1
        return i

    cdef void run_held(self, uint64_t next_ip) noexcept nogil:
        """Runs the held word."""
        cdef uint64_t count = self.held_count
        self.held_count = 0
        self.run_words(self.held, count, next_ip)

    # --- instructions and data

    cdef void run_accesses(self, WordPlan* plan, const uint64_t* addresses) noexcept nogil:
        """Makes the accesses of a plan whose lines of instructions are the most recent of their sets; should an access
        remove such a line, the rest runs in order."""
        cdef uint64_t changes = plan.code_changes
        cdef uint32_t done
        if self.line_shift == USUAL_SHIFT:       # the compiler knows it
            done = use_accesses(self, plan, addresses, 0, plan.accesses, changes, USUAL_SHIFT)
        else:
            done = use_accesses(self, plan, addresses, 0, plan.accesses, changes, self.line_shift)
        if changes != self.caches.code_changes:
            self.run_rest(plan, addresses, done)

    cdef void run_rest(self, WordPlan* plan, const uint64_t* addresses, uint32_t first) noexcept nogil:
        """Runs what is behind an access of a plan, block by block."""
        cdef uint32_t block = 0
        while plan.parts[block].accesses < first:
            block += 1
        self.use_all(plan, addresses, first, plan.parts[block].accesses)
        self.run_in_order(plan, addresses, block + 1)

    cdef void use_all(self, WordPlan* plan, const uint64_t* addresses, uint32_t first, uint32_t end) noexcept nogil:
        """Makes accesses of a plan."""
        while first < end:
            first = use_accesses(self, plan, addresses, first, end, 0, self.line_shift)

    cdef void run_in_order(self, WordPlan* plan, const uint64_t* addresses, uint32_t first) noexcept nogil:
        """Runs the instructions and accesses of a plan from a block on, block by block."""
        cdef uint32_t block, done = plan.parts[first - 1].accesses if first else 0
        for block in range(first, plan.blocks):
            self.fetch_lines(plan, block)
            if block + 1 == plan.blocks and self.mark_count:
                self.run_marked(plan, addresses, done)
            else:
                self.use_all(plan, addresses, done, plan.parts[block].accesses)
            done = plan.parts[block].accesses
        self.line = plan.last_line + 1

    cdef void run_marked(self, WordPlan* plan, const uint64_t* addresses, uint32_t first) noexcept nogil:
        """Makes the accesses of a block with marks: string instructions carry their extent in a mark."""
        cdef const BlockPart* part = &plan.parts[plan.blocks - 1]
        cdef const BlockHead* head = &self.plans.table.c.heads[part.number]
        cdef uint64_t k, i, size
        for k in range(first, part.accesses):
            size = (plan.sizes[k] & ACCESS_BYTES) + 1
            for i in range(self.mark_count):
                if mark_kind(self.marks[i]) == Mark.STRING and mark_instruction(self.marks[i]) \
                        == self.plans.table.c.accesses[head.first_access + k - first].instruction:
                    size += mark_value(self.marks[i])
            self.use_lines(plan, <uint32_t>k, addresses[k], size)

    cdef void use_lines(self, WordPlan* plan, uint32_t number, uint64_t address, uint64_t size) noexcept nogil:
        """Accesses the lines of an access, one after the other."""
        cdef uint64_t line = address >> self.line_shift, last = (address + size - 1) >> self.line_shift
        cdef uint16_t flags = plan.sizes[number]
        cdef bint writes = not flags >> NO_WRITE_SHIFT
        cdef LineOutcome outcome
        cdef uint64_t* row
        cdef bint fetches = flags & NO_READ and not writes
        if address == 0 or (fetches and not is_known(self.caches, address)):         # an access that was not made
            return
        if flags & BYPASSES:
            self.bypass_lines(plan, number, line, (address + size - 1 - BYPASSES) >> self.line_shift)
            return
        while line <= last:
            use_data(self.caches, line << self.line_shift, writes, &outcome)
            line += 1
            if outcome.level == LEVEL_L1 and outcome.translation == FIRST_TLB:
                continue
            row = self.row_of(plan, number)
            row[MISS_LOAD_WALK + (flags & NO_READ != 0)] += (outcome.translation == PAGE_WALK) & (not fetches)
            if outcome.level != LEVEL_L1:
                row[MISS_L1D_READ] += not flags & NO_READ
                row[MISS_L1D_WRITE] += (flags & NO_READ != 0) & writes
                row[MISS_LLC_REFERENCE] += outcome.references
                row[MISS_LLC] += outcome.misses
            if self.listening:
                self.note(DATA_EVENT, number, (line - 1) << self.line_shift, &outcome)

    cdef void bypass_lines(self, WordPlan* plan, uint32_t number, uint64_t line, uint64_t last) noexcept nogil:
        """Accesses lines in memory alone; they miss nothing but translations."""
        cdef LineOutcome outcome
        outcome.level, outcome.references, outcome.misses = LEVEL_MEMORY, 0, 0
        while line <= last:
            outcome.translation = self.caches.bypass_data(line << self.line_shift)
            if outcome.translation == PAGE_WALK and not plan.sizes[number] >> NO_WRITE_SHIFT:
                self.row_of(plan, number)[MISS_STORE_WALK] += 1
            if self.listening:
                self.note(DATA_EVENT, number, line << self.line_shift, &outcome)
            line += 1

    cdef void fetch_lines(self, WordPlan* plan, uint32_t block) noexcept nogil:
        """Fetches the lines of a block's instructions; the one fetched last is still there."""
        cdef const CodeLine* line = plan.lines + (plan.parts[block - 1].lines if block else 0)
        cdef const CodeLine* end = plan.lines + plan.parts[block].lines
        cdef LineOutcome outcome
        cdef uint64_t* row
        if block == 0 and plan.first_line + 1 == self.line:
            line += 1
        while line < end:
            if line.line[0] != line.line_member or line.page[0] != line.page_member:
                self.caches.use_code(line.address, &outcome)
                if outcome.level != LEVEL_L1 or outcome.translation != FIRST_TLB:
                    row = self.row_of(plan, plan.accesses + block)
                    row[MISS_ITLB] += outcome.translation == PAGE_WALK
                    row[MISS_L1I] += outcome.level != LEVEL_L1
                    row[MISS_LLC_REFERENCE] += outcome.references
                    row[MISS_LLC] += outcome.misses
                    if self.listening:
                        self.note(FETCH_EVENT, block, long_address(self.caches, line.address), &outcome)
            line += 1

    cdef void mispredicted(self, WordPlan* plan, const BranchStep* step) noexcept nogil:
        cdef LineOutcome none
        self.row_of(plan, plan.accesses + step.block)[MISS_BRANCH + branch_class(step.kind, step.condition, step.taken)] += 1
        if self.listening:
            none.level = none.translation = none.references = none.misses = 0
            self.note(BRANCH_EVENT, step.block, step.address, &none)

    # --- counts

    cdef uint64_t* row_of(self, WordPlan* plan, uint32_t row) noexcept nogil:
        """The counts of an access of a plan, or of a block behind them, by kind."""
        if not plan.listed:
            if self.plans.tallies_of(plan) == NULL:
                self.fail(Failure.OUT_OF_MEMORY)
                return self.spare_row
            plan.listed, plan.next, self.listed = True, self.listed, plan
        return plan.tallies + row * MISS_KINDS

    cdef void note(self, uint8_t kind, uint32_t place, uint64_t address, const LineOutcome* outcome) noexcept nogil:
        """Notes an event for the listener."""
        cdef MissEvent* event = &self.events[self.event_count]
        if self.event_count == MAX_MISS_EVENTS:
            self.fail(Failure.TOO_MANY_OCCURRENCES)
            return
        self.event_count += 1
        event.kind, event.place, event.address = kind, <uint16_t>place, address
        event.level, event.translation = outcome.level, outcome.translation
        event.references, event.misses = outcome.references, outcome.misses

    cdef void write_out(self) noexcept nogil:
        """Writes the counts so far to the records."""
        while self.listed != NULL:
            self.write_plan(self.listed)
            self.listed.listed = False
            self.listed = self.listed.next
        if self.records.lost:
            self.fail(Failure.OUT_OF_MEMORY)

    cdef void write_plan(self, WordPlan* plan) noexcept nogil:
        cdef const BlockHead* head
        cdef uint32_t block, first = 0, k
        for block in range(plan.blocks):
            head = &self.plans.table.c.heads[plan.parts[block].number]
            for k in range(first, plan.parts[block].accesses):
                self.write_row(plan.tallies + k * MISS_KINDS, plan.parts[block].number,
                               self.plans.table.c.accesses[head.first_access + k - first].instruction, head.length - 1)
            first = plan.parts[block].accesses
            self.write_row(plan.tallies + (plan.accesses + block) * MISS_KINDS, plan.parts[block].number, 0,
                           head.length - 1)

    cdef void write_row(self, uint64_t* row, uint32_t block, uint32_t instruction, uint32_t last) noexcept nogil:
        """Writes counts to the records, each as a part without instructions; mispredictions are those of a block's
        last instruction."""
        cdef uint32_t kind, part
        cdef uint64_t place
        cdef uint64_t* counts
        for kind in range(MISS_KINDS):
            if row[kind] == 0:
                continue
            place = last if kind >= MISS_BRANCH else instruction
            self.event_log.context = place << EVENT_INSTRUCTION_SHIFT
            record(&self.event_log, CORE_L1D_READ_MISS + kind, 1)
            part = self.records.part(block | <uint64_t>1 << 32 | place << 48, 0, 0, 0,
                                     self.records.event_list(&self.event_log))
            counts = self.records.part_counts        # after `part`, which may move them
            counts[part] += row[kind]
            row[kind] = 0

    # --- interface for Python: that of `IntervalMachine`, without cycles

    def update_records(self, uint64_t next_ip):
        """Brings the records up to the instruction at ``next_ip``."""
        if self.held_count:
            self.run_held(next_ip)
        self.write_out()

    def show_records(self):
        """Makes the records so far readable, without those of a held word."""
        self.write_out()

    def finish(self):
        """Ends the stream: brings the records up to date. May be called again."""
        cdef const WordPlan* plan
        if self.held_count:
            plan = plan_of_word(self.plans, self.held[0])
            self.run_held(plan.last.behind)
        self.write_out()

    def occurrences(self, event_sets=None):
        """{(block or None, instruction, Occurrence, in the data ranges): times}."""
        return self.records.occurrences(event_sets)
