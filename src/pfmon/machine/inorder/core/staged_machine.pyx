"""A staged machine, which does only some of its work, to measure the cost of its parts (benchmarks/machine.py).

Each stage does one more step of the machine's work for a block. None of them includes timing: the memo, the pipeline,
the records.
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BLOCK_MASK, Consumer, executed

cpdef enum Stage:
    STREAM = 0                   # find the blocks and their accesses
    PREDICTOR
    FETCH                        # L1I and the levels below, instruction TLBs
    TLBS                         # the first-level data TLB
    CACHES                       # data TLBs and data caches
    WHOLE


@cython.final
cdef class StagedMachine(Consumer):
    """Does the work of a machine up to ``stage``. Its counts are meaningless."""

    cdef public int stage
    cdef Machine machine
    cdef const BlockPlan* before # the block before
    cdef uint64_t word_before
    cdef int64_t clock
    cdef EventLog waste

    def __cinit__(self, config, table):
        self.machine = Machine(config, table)
        self.stage = WHOLE

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0
        cdef const BlockPlan* plan
        if self.stage >= WHOLE:
            self.machine.consume(words, count)
            self.failure = self.machine.failure
            return
        while i < count:
            if words[i] >> 63:
                i += 1
                continue
            plan = plan_of(self.machine.plans, words[i] & BLOCK_MASK)
            if plan == NULL:
                self.fail(self.machine.plans.failure)
                return
            self.run_block(plan, words + i)
            i += words_of(plan, words[i])

    cdef void run_block(self, const BlockPlan* plan, const uint64_t* words) noexcept nogil:
        """Predicts the branch of the block before, which led here; makes the accesses of this one."""
        self.clock += plan.length
        if self.stage >= PREDICTOR and self.before != NULL and self.before.has_branch:
            self.machine.predictor.run(&self.before.branch, executed(self.word_before, self.before.taken_condition),
                                       plan.ip)
        if self.stage >= FETCH:
            self.fetch_windows(plan)
        if self.stage >= TLBS:
            self.reach_memory(plan, words)
        self.before, self.word_before = plan, words[0]
        self.waste.count = 0

    cdef void fetch_windows(self, const BlockPlan* plan) noexcept nogil:
        cdef uint64_t window = plan.first_window
        cdef Fetched fetched
        while window <= plan.first_window + plan.more_windows * WINDOW:
            if not self.machine.fetch.quick(window, self.clock):
                self.machine.fetch.fetch(&self.waste, window, self.clock, &fetched)
            window += WINDOW

    cdef void reach_memory(self, const BlockPlan* plan, const uint64_t* words) noexcept nogil:
        cdef uint32_t i, access = 0
        cdef const MemAccess* mem_access
        for i in range(plan.access_count):
            mem_access = &plan.mem_accesses[i]
            if executed(words[0], mem_access.condition):
                access += 1
                self.reach(plan, mem_access, words[access])

    cdef void reach(self, const BlockPlan* plan, const MemAccess* mem_access, uint64_t address) noexcept nogil:
        """Looks up one access in the first-level data TLB, or makes it."""
        cdef AccessResult served
        cdef int64_t at = self.clock + mem_access.group
        if self.stage == TLBS:
            if not lookup(self.machine.data.tlb1, address):
                insert(self.machine.data.tlb1, address)
        elif not self.machine.data.quick(address, mem_access.size, mem_access.kind, at):
            self.machine.data.access(&self.waste, address, mem_access.size, mem_access.kind,
                                     plan.steps[mem_access.step].access_flags, at, &served)
