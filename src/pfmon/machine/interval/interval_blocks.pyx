"""Plans of blocks for an out-of-order core, each made when its block first runs."""

cimport cython
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from pfmon.stream._stream cimport (
    AccessKind, BANKS, BANK_MASK, BANK_SHIFT, BlockAccess, BlockHead, BlockInstruction, Kind, OPERANDS_AT, RegisterMasks,
    X86Kind, further_kind, is_second, max_accesses)

cdef enum:
    INITIAL_PLANS = 1 << 10


@cython.final
cdef class IntervalBlocks:
    """``width``: instructions that dispatch in a cycle; ``line``: bytes of a line of L1I."""

    def __cinit__(self, BlockTable table, uint32_t width, uint64_t line):
        self.table, self.width, self.line_shift = table, width, int(line).bit_length() - 1
        self.operands_at = OPERANDS_AT if table.payload_bytes >= OPERANDS_AT + sizeof(RegisterMasks) else 0

    def __dealloc__(self):
        cdef uint64_t bank, i
        for bank in range(BANKS):
            for i in range(self.capacity[bank]):
                if self.plans[bank][i] != NULL:
                    free(self.plans[bank][i].tallies)
                    free(counts_of(self.plans[bank][i]).events)
                    free(self.plans[bank][i].flow)
                    free_block(self.plans[bank][i].core)
                    free(self.plans[bank][i])
            free(self.plans[bank])

    cdef IntervalBlock* make(self, uint64_t number) noexcept nogil:
        cdef uint64_t bank = number >> BANK_SHIFT, index = number & BANK_MASK, capacity = self.capacity[bank]
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef const BlockInstruction* instructions = self.table.c.instructions + head.first
        cdef uint64_t reached = max_accesses(head), k
        cdef IntervalBlock** fresh
        cdef IntervalBlock* plan
        if index >= capacity:
            capacity = max(INITIAL_PLANS, max(capacity, index + 1) * 2)
            fresh = <IntervalBlock**>realloc(self.plans[bank], capacity * sizeof(void*))
            if fresh == NULL:
                self.failure = Failure.OUT_OF_MEMORY
                return NULL
            memset(fresh + self.capacity[bank], 0, (capacity - self.capacity[bank]) * sizeof(void*))
            self.plans[bank], self.capacity[bank] = fresh, capacity
        plan = <IntervalBlock*>alloc_host_lines(self.bytes_of(reached))
        if plan == NULL:
            self.failure = Failure.OUT_OF_MEMORY
            return NULL
        memset(plan, 0, self.bytes_of(reached))
        plan.number, plan.length = <uint32_t>number, <uint8_t>head.length
        plan.ip, plan.reached = head.ip, <uint16_t>reached
        plan.last, plan.last_bytes = instructions[head.length - 1].address, instructions[head.length - 1].length
        plan.branch, plan.condition = instructions[head.length - 1].branch, instructions[head.length - 1].condition
        plan.first_line = plan.ip >> self.line_shift
        plan.more_lines = <uint8_t>(((behind(plan) - 1) >> self.line_shift) - plan.first_line)
        plan.groups, plan.short_by = <uint8_t>(plan.length // self.width), <uint8_t>(plan.length % self.width)
        for k in range(reached):
            describe(&accesses_of(plan)[k], self.table.c.accesses + head.first_access, k, instructions)
        if self.cores is not None:
            plan.core = self.cores.make(number)
        if (self.cores is not None and plan.core == NULL) \
                or (self.cores is None and self.operands_at and not self.follow(plan)):
            self.failure = Failure.OUT_OF_MEMORY
            free(plan)
            return NULL
        self.plans[bank][index] = plan
        return plan

    cdef uint64_t bytes_of(self, uint64_t reached) noexcept nogil:
        """Returns the bytes of a plan with so many accesses, and its counts."""
        cdef uint64_t counts = sizeof(BlockCounts) - (MAX_DISPATCH_WIDTH - self.width) * sizeof(uint64_t)
        return sizeof(IntervalBlock) + accesses_bytes(reached) + counts

    cdef bint follow(self, IntervalBlock* plan) noexcept nogil:
        """Computes a block's dataflow; False: there is no memory."""
        cdef const BlockHead* head = &self.table.c.heads[plan.number]
        cdef uint64_t stride = self.table.c.header.payload_bytes
        cdef OperandSource* addresses = <OperandSource*>malloc((plan.reached + 1) * sizeof(OperandSource))
        cdef Dataflow flow
        cdef uint64_t size
        cdef uint32_t k
        if addresses == NULL:
            return False
        follow_block(&flow, addresses, self.table.c.payloads + head.first * stride + self.operands_at, stride,
                     plan.length, self.table.c.accesses + head.first_access, plan.reached)
        size = sizeof(Dataflow) - sizeof(flow.result) + flow.results * sizeof(OperandResult)
        plan.flow = <Dataflow*>malloc(size + plan.reached * sizeof(OperandSource))
        if plan.flow != NULL:
            memcpy(plan.flow, &flow, size)
            memcpy(addresses_of(plan.flow), addresses, plan.reached * sizeof(OperandSource))
        free(addresses)
        return plan.flow != NULL


cdef void describe(IntervalAccess* to, const BlockAccess* accesses, uint64_t k,
                   const BlockInstruction* instructions) noexcept nogil:
    """Describes one access of a block."""
    cdef const BlockInstruction* instruction = &instructions[accesses[k].instruction]
    cdef uint8_t kind = further_kind(instruction) if is_second(accesses, k) else instruction.access
    to.instruction, to.size = accesses[k].instruction, max(<uint16_t>1, instruction.size)
    if instruction.isa_kind & X86Kind.BYPASSES_CACHES and kind & AccessKind.READ == 0:
        to.size = min(to.size, <uint16_t>BYPASSES) | BYPASSES
    to.reads, to.writes = kind & AccessKind.READ, (kind & AccessKind.WRITE) >> 1
    to.locked = instruction.kind & Kind.ATOMIC != 0
