"""A staged machine, which does only some of its work, to measure the cost of its parts (benchmarks/machine.py).

Each stage does one more step of the machine's work for a block. None of them includes timing: the memo, the pipeline,
the records.
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport executed

cpdef enum Stage:
    STREAM = 0                   # find the blocks and their accesses
    PREDICTOR
    FETCH                        # L1I and the levels below, instruction TLBs
    TLBS                         # the first-level data TLB
    CACHES                       # data TLBs and data caches
    WHOLE


@cython.final
cdef class StagedMachine(Machine):
    """A machine that stops after ``stage``. Its counts are meaningless."""

    cdef public int stage
    cdef int64_t clock
    cdef EventLog waste

    def __cinit__(self):
        self.stage = WHOLE

    cdef void block_ran(self, uint64_t next_ip) noexcept nogil:
        cdef uint64_t word = self.block[0]
        cdef const BlockPlan* plan = self.plan
        if self.stage >= WHOLE:
            Timing.block_ran(self, next_ip)
            return
        self.mark_count = 0
        self.clock += plan.length
        if self.stage >= PREDICTOR and plan.has_branch:
            self.predictor.run(&plan.branch, not plan.branch.conditional
                               or (word >> (32 + plan.steps[plan.length - 1].condition)) & 1, next_ip)
        if self.stage >= FETCH:
            self.fetch_windows(plan)
        if self.stage >= TLBS:
            self.reach_memory(plan, word)
        self.waste.count = 0

    cdef void fetch_windows(self, const BlockPlan* plan) noexcept nogil:
        cdef uint64_t window = plan.first_window
        cdef Fetched fetched
        while window <= plan.first_window + plan.more_windows * WINDOW:
            if not self.fetch.quick(window, self.clock):
                self.fetch.fetch(&self.waste, window, self.clock, &fetched)
            window += WINDOW

    cdef void reach_memory(self, const BlockPlan* plan, uint64_t word) noexcept nogil:
        cdef uint32_t i, access = 0
        cdef const MemAccess* mem_access
        cdef AccessResult served
        cdef uint64_t address
        for i in range(plan.access_count):
            mem_access = &plan.mem_accesses[i]
            if not executed(word, mem_access.condition):
                continue
            address = self.block[1 + access]
            access += 1
            if self.stage == TLBS:
                if not lookup(self.data.tlb1, address):
                    insert(self.data.tlb1, address)
            elif not self.data.quick(address, mem_access.size, mem_access.kind, self.clock + mem_access.group):
                self.data.access(&self.waste, address, mem_access.size, mem_access.kind,
                                 plan.steps[mem_access.step].access_flags, self.clock + mem_access.group, &served)
