"""Last branch records (Intel SDM volume 3 sections 17.4.8, 17.7 and 17.9): the last taken branches that MSR_LBR_SELECT lets
through, with their targets, beside the call stack.

A branch is recorded when its target begins. So at an instruction there are the branches before it. Each thread has its own
records, as if the operating system saved and restored them.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from pfmon.stream._stream cimport ALWAYS, BLOCK_MASK, BlockHead, BlockInstruction, BranchKind, executed

cdef enum:
    MSR_LASTBRANCH_TOS = 0x1C9
    MAX_CYCLES = 0xFFFF          # of MSR_LBR_INFO_x.CYC_CNT
    # bits of MSR_LBR_SELECT
    JCC = 1 << 2
    NEAR_REL_CALL = 1 << 3
    NEAR_IND_CALL = 1 << 4
    NEAR_RET = 1 << 5
    NEAR_IND_JMP = 1 << 6
    NEAR_REL_JMP = 1 << 7
    CALLS_AND_RETURNS = NEAR_REL_CALL | NEAR_IND_CALL | NEAR_RET

cdef uint64_t MISPRED = <uint64_t>1 << 63        # of MSR_LASTBRANCH_x_FROM_IP, or of MSR_LBR_INFO_x
cdef uint64_t VALID = <uint64_t>1 << 63          # of a target, of AMD's


cdef inline uint32_t select_bit(const BlockInstruction* branch) noexcept nogil:
    """Returns the bit of MSR_LBR_SELECT of a branch."""
    if branch.branch == BranchKind.DIRECT:
        return NEAR_REL_JMP if branch.condition == ALWAYS else JCC
    if branch.branch == BranchKind.INDIRECT_JUMP:
        return NEAR_IND_JMP
    if branch.branch == BranchKind.DIRECT_CALL:
        return NEAR_REL_CALL
    return NEAR_IND_CALL if branch.branch == BranchKind.INDIRECT_CALL else NEAR_RET


cdef class LastBranches(CallStack):
    """As CallStack; `program` begins."""

    def program(self, setting):
        """Records as a LastBranchSetting says."""
        layout = setting.registers
        self.depth, self.recorded, self.call_stack = layout.depth, setting.recorded, setting.call_stack
        if self.depth > MAX_LAST_BRANCHES:
            raise ValueError(f"there is room for {MAX_LAST_BRANCHES} branches")
        self.flags_sources = layout.has_predictions and not layout.infos
        self.sources, self.targets, self.infos = layout.sources, layout.targets, layout.infos
        self.stride, self.shifts = layout.stride, layout.shifts

    def __dealloc__(self):
        free(self.rings)

    cdef void switch_to(self, uint64_t thread) noexcept nogil:
        cdef uint64_t before = self.thread
        cdef BranchRing* rings
        CallStack.switch_to(self, thread)
        if self.thread == before:
            return
        if self.thread_count > self.ring_count:
            rings = <BranchRing*>realloc(self.rings, self.thread_count * sizeof(BranchRing))
            if rings == NULL:
                memset(&self.ring, 0, sizeof(BranchRing))    # without memory the branches are not known
                return
            memset(rings + self.ring_count, 0, (self.thread_count - self.ring_count) * sizeof(BranchRing))
            self.rings, self.ring_count = rings, self.thread_count
        self.rings[before], self.ring = self.ring, self.rings[self.thread]

    cdef void arrive(self, uint64_t word) noexcept nogil:
        if self.ring.left.source:
            self.record(self.table.c.heads[word & BLOCK_MASK].ip)
        CallStack.arrive(self, word)

    cdef void end_block(self, uint64_t word) noexcept nogil:
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        cdef const BlockInstruction* last = &self.table.c.instructions[head.first + head.length - 1]
        CallStack.end_block(self, word)
        if last.branch == BranchKind.NO_BRANCH or not executed(word, last.condition):
            return
        self.ring.left.kind = select_bit(last)
        if self.ring.left.kind & self.recorded:
            self.ring.left.source, self.ring.left.mispredicted = last.address, False
            self.ring.left.cycle = self.ring.cycle

    cdef void retire_block(self, bint mispredicted, uint64_t cycle) noexcept nogil:
        self.ring.left.mispredicted, self.ring.left.cycle = mispredicted, cycle

    cdef void record(self, uint64_t target) noexcept nogil:
        """Records the branch that ended the last block, or lets a return remove what was recorded last."""
        cdef BranchRing* ring = &self.ring
        ring.left.cycles = <uint32_t>min(ring.left.cycle - ring.cycle, <uint64_t>MAX_CYCLES)
        ring.cycle = ring.left.cycle
        if self.call_stack and ring.left.kind == NEAR_RET:
            memset(&ring.record[ring.top], 0, sizeof(BranchRecord))
            ring.top = (ring.top if ring.top else self.depth) - 1
        else:
            ring.top = ring.top + 1 if ring.top + 1 < self.depth else 0
            ring.record[ring.top] = ring.left
            ring.record[ring.top].target = target
        ring.left.source = 0

    def registers(self):
        """Returns (number, value) of the registers in the order of `LastBranchRegisters.registers`: MSR_LASTBRANCH_TOS, the
        sources, the targets, and MSR_LBR_INFO_x where there are such."""
        cdef uint32_t i
        cdef const BranchRecord* record = self.ring.record
        if self.shifts:
            return self.shifted()
        held = [(MSR_LASTBRANCH_TOS, self.ring.top)]
        held += [(self.sources + i, record[i].source | (MISPRED if record[i].mispredicted and self.flags_sources else 0))
                 for i in range(self.depth)]
        held += [(self.targets + i, record[i].target) for i in range(self.depth)]
        if self.infos:
            held += [(self.infos + i, record[i].cycles | (MISPRED if record[i].mispredicted else 0))
                     for i in range(self.depth)]
        return tuple(held)

    cdef tuple shifted(self):
        """Returns the registers of a stack whose entry 0 is the latest (AMD): the sources, then the targets."""
        cdef uint32_t i
        cdef const BranchRecord* record
        cdef list sources = [], targets = []
        for i in range(self.depth):
            record = &self.ring.record[(self.ring.top + self.depth - i) % self.depth]
            sources.append((self.sources + self.stride * i, record.source | (MISPRED if record.mispredicted else 0)))
            targets.append((self.targets + self.stride * i, record.target | (VALID if record.source else 0)))
        return tuple(sources + targets)

    def calls(self):
        """Returns the calls that the program is in, the latest first, as far as the records have them: in call stack mode,
        or if they are calls and returns alone; else none."""
        cdef uint32_t i
        cdef const BranchRecord* record
        cdef list found = []
        if self.recorded != CALLS_AND_RETURNS:
            return ()
        for i in range(self.depth):
            record = &self.ring.record[(self.ring.top + 1 + i) % self.depth]
            if record.source and record.kind != NEAR_RET:
                found.append(record.source)
            elif record.source and found:
                found.pop()
        found.reverse()
        return tuple(found)
