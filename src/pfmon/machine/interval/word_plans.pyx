"""Plans of the stream's words: what a machine without time does for a block, or for all blocks of a path at once. Each
is made when its word first comes.

A plan is one piece of memory with all that a run needs: sizes of accesses in a flat array of 16 bits, branches, lines
of instructions, and the counter of its runs.
"""

cimport cython
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pfmon.stream._stream cimport (
    ALWAYS, AccessKind, BLOCK_MASK, BlockAccess, BlockHead, BlockInstruction, BranchKind, CONDITION_SHIFT, X86Kind,
    further_kind, is_second, max_accesses)


@cython.final
cdef class WordPlans:
    """``caches``: those that the plans' lines of instructions are in; ``predictor``: that of their branches."""

    def __cinit__(self, BlockTable table, CacheContents caches, IntervalPredictor predictor):
        self.table, self.caches, self.predictor = table, caches, predictor
        self.line_shift = caches.l1i.rows.shift

    def __dealloc__(self):
        cdef uint64_t which, i
        for which in range(PLAN_BANKS):
            for i in range(self.capacity[which]):
                if self.plans[which][i] != NULL:
                    free(self.plans[which][i].tallies)
                    free(self.plans[which][i])
            free(self.plans[which])

    cdef WordPlan* make(self, uint64_t which, uint64_t number) noexcept nogil:
        cdef const uint64_t* words = NULL
        cdef uint64_t word = which << BANK_SHIFT | number, accesses = 0, lines = 0, bytes
        cdef const BlockHead* head
        cdef uint32_t blocks = 1, i
        cdef WordPlan* plan
        if which == PATH_PLANS:
            words = self.paths.words + self.paths.heads[number].first
            blocks = self.paths.heads[number].blocks
        else:
            words = &word
        for i in range(blocks):
            head = &self.table.c.heads[words[i] & BLOCK_MASK]
            accesses += max_accesses(head)
            lines += (self.end_of(head) - 1 >> self.line_shift) - (head.ip >> self.line_shift) + 1
        bytes = sizeof(WordPlan) + blocks * (sizeof(BlockPart) + sizeof(BranchStep)) + lines * sizeof(CodeLine) \
            + accesses * sizeof(uint16_t)
        if accesses > 0xFFFF or not room_for_plan(<void***>&self.plans[which], &self.capacity[which], number):
            self.failure = Failure.BLOCK_TOO_LONG if accesses > 0xFFFF else Failure.OUT_OF_MEMORY
            return NULL
        plan = <WordPlan*>alloc_host_lines(bytes)
        if plan == NULL:
            self.failure = Failure.OUT_OF_MEMORY
            return NULL
        memset(plan, 0, bytes)
        plan.lines = <CodeLine*>(plan + 1)
        plan.steps = <BranchStep*>(plan.lines + lines)
        plan.parts = <BlockPart*>(plan.steps + blocks)
        plan.sizes = <uint16_t*>(plan.parts + blocks)
        self.fill(plan, words, blocks)
        self.plans[which][number] = plan
        return plan

    cdef void fill(self, WordPlan* plan, const uint64_t* words, uint32_t blocks) noexcept nogil:
        """Fills in the blocks of a plan, in order."""
        cdef const BlockHead* head
        cdef const BlockInstruction* instructions
        cdef const BlockInstruction* last
        cdef BranchStep* step
        cdef uint32_t i, k, reached
        plan.blocks, plan.code_changes = <uint16_t>blocks, ~<uint64_t>0
        plan.ip = self.table.c.heads[words[0] & BLOCK_MASK].ip
        for i in range(blocks):
            head = &self.table.c.heads[words[i] & BLOCK_MASK]
            instructions = self.table.c.instructions + head.first
            last = &instructions[head.length - 1]
            reached = max_accesses(head)
            for k in range(reached):
                plan.sizes[plan.accesses + k] = access_size(self.table.c.accesses + head.first_access, k, instructions)
            plan.accesses += <uint16_t>reached
            self.add_lines(plan, head.ip >> self.line_shift, (self.end_of(head) - 1) >> self.line_shift)
            plan.parts[i].number, plan.parts[i].accesses = <uint32_t>(words[i] & BLOCK_MASK), plan.accesses
            plan.parts[i].lines = plan.line_count
            step = &plan.steps[plan.step_count]
            step.kind, step.condition, step.block = last.branch, last.condition, <uint8_t>i
            step.address, step.behind = last.address, last.address + last.length
            step.hash = branch_hash(last.address)
            step.counter, step.loops = counter_of(self.predictor, step.hash), loops_of(self.predictor, step.hash)
            step.taken = 1 if last.condition == ALWAYS else words[i] >> (CONDITION_SHIFT + last.condition) & 1
            plan.condition_bit = NO_CONDITION_BIT if last.condition == ALWAYS else CONDITION_SHIFT + last.condition
            if i < blocks - 1:
                step.target = self.table.c.heads[words[i + 1] & BLOCK_MASK].ip
                plan.step_count += step.kind != BranchKind.NO_BRANCH
        plan.last = step
        plan.all_steps = plan.step_count + (step.kind != BranchKind.NO_BRANCH)

    cdef uint64_t end_of(self, const BlockHead* head) noexcept nogil:
        """The address after a block's last instruction."""
        cdef const BlockInstruction* last = self.table.c.instructions + head.first + head.length - 1
        return last.address + last.length

    cdef void add_lines(self, WordPlan* plan, uint64_t first, uint64_t last) noexcept nogil:
        """Adds the lines of a block's instructions, other than the last one of the block before."""
        cdef CodeLine* line
        if plan.line_count == 0:
            plan.first_line = first
        elif first == plan.last_line:
            first += 1
        while first <= last:
            line = &plan.lines[plan.line_count]
            line.address = short_address(self.caches, first << self.line_shift)
            line.line = members_of(self.caches, &self.caches.l1i.rows, line.address)
            line.page = members_of(self.caches, &self.caches.itlb.rows, line.address)
            line.line_member = <uint32_t>(line.address >> self.line_shift) << 1
            line.page_member = <uint32_t>(line.address >> PAGE_SHIFT) << 1
            plan.line_count += 1
            plan.last_line = first
            first += 1

    cdef uint64_t* tallies_of(self, WordPlan* plan) noexcept nogil:
        """The tallies of a plan; NULL: there is no memory."""
        if plan.tallies == NULL:
            plan.tallies = <uint64_t*>calloc((plan.accesses + plan.blocks) * MISS_KINDS, sizeof(uint64_t))
        return plan.tallies


cdef bint room_for_plan(void*** plans, uint64_t* capacity, uint64_t number) noexcept nogil:
    """Makes room for the plan of a number in a bank; False: there is no memory."""
    cdef uint64_t wider = max(<uint64_t>INITIAL_WORD_PLANS, (number + 1) * 2)
    cdef void** fresh
    if number < capacity[0]:
        return True
    fresh = <void**>realloc(plans[0], wider * sizeof(void*))
    if fresh == NULL:
        return False
    memset(fresh + capacity[0], 0, (wider - capacity[0]) * sizeof(void*))
    plans[0], capacity[0] = fresh, wider
    return True


cdef uint16_t access_size(const BlockAccess* accesses, uint64_t k, const BlockInstruction* instructions) noexcept nogil:
    """The size of one access of a block, in a plan."""
    cdef const BlockInstruction* instruction = &instructions[accesses[k].instruction]
    cdef uint8_t kind = further_kind(instruction) if is_second(accesses, k) else instruction.access
    cdef uint16_t size = min(<uint16_t>(BYPASSES - 1), max(<uint16_t>1, instruction.size) - 1)
    if instruction.isa_kind & X86Kind.BYPASSES_CACHES and kind & AccessKind.READ == 0:
        size |= BYPASSES
    size |= 0 if kind & AccessKind.READ else NO_READ
    return size | <uint16_t>(kind & AccessKind.WRITE == 0) << NO_WRITE_SHIFT
