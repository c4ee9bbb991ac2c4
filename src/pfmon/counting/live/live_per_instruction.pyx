"""Counts a block with an overflow on an out-of-order machine, instruction by instruction. The events of an instruction
(misses, a misprediction) are counted one by one before it retires; a cycle is counted with the instruction that ends
it.

Cycles in which nothing dispatched keep the machine's order: those of fetch and of the store buffer come before the
block dispatches, all others after it. So counters that start others (PMCTRIGGER, PMCnCOUNTCTL) do so between two
instructions.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from pfmon.machine._machine cimport BUBBLE_FLAG, FETCH_ITLB, FETCH_L1I, WINDOW_STORES
from pfmon.stream._stream cimport BLOCK_MASK, BlockHead, mark_instruction

cdef enum:
    CYCLE = 0x100
    BEFORE_ALL = 0x200               # before all instructions, and after them
    AFTER_ALL = 0x201


cdef class LivePerInstruction(LiveCounting):
    """As LiveCounting, without a skid. No PMU of these programs has data ranges."""

    cdef uint32_t place_in(self, uint32_t item, uint64_t block) noexcept nogil:
        """Returns the position of a record in a block: its instruction's number, or that + CYCLE if the instruction
        ended a cycle."""
        cdef uint64_t code, cause
        if item & BUBBLE_FLAG:
            cause = self.cycles.records.bubble_keys[item & ~<uint32_t>BUBBLE_FLAG] >> 40 & 0xFF
            return BEFORE_ALL if cause == FETCH_L1I or cause == FETCH_ITLB or cause == WINDOW_STORES else AFTER_ALL
        code = self.cycles.records.parts[item].code
        if code & 0xFFFFFFFFULL != block:
            return AFTER_ALL
        if (code >> 40 & INSTRUCTION_MASK) < (code >> 32 & INSTRUCTION_MASK):    # an event of the instruction
            return <uint32_t>(code >> 48 & INSTRUCTION_MASK)
        return <uint32_t>(code >> 40 & INSTRUCTION_MASK) + CYCLE

    cdef void count_by_instruction(self, const ObservedBlock* block) noexcept nogil:
        cdef int64_t sums[MAX_MONITORS]
        cdef const BlockHead* head
        cdef uint64_t k, number
        cdef uint32_t i
        if block.words == NULL:
            LiveCounting.count_by_instruction(self, block)
            return
        number = self.last = block.words[0] & BLOCK_MASK
        head = &self.table.c.heads[number]
        self.time, self.ahead = self.time_at(block, 0, 0), 0
        self.collect_events(block, BEFORE_ALL)
        for i in range(head.length):
            self.retired += 1
            self.within = True
            self.ahead = 1                       # in the cycle of its dispatch
            self.collect_events(block, i)
            memset(sums, 0, self.monitors * sizeof(int64_t))
            self.add_instruction(block.words[0], i, 0, sums)
            for k in range(block.mark_count):
                if mark_instruction(block.marks[k]) == i:
                    self.add_mark(number, block.words[0], block.words + 1, block.marks, block.mark_count, k, sums)
            self.add_cycle(block, i, sums)
            self.step(sums, self.table.c.instructions[head.first + i].address)
            self.within = False
            if self.trigger | self.until:
                self.set_off()
        memset(sums, 0, self.monitors * sizeof(int64_t))
        for k in range(block.mark_count):
            if mark_instruction(block.marks[k]) >= head.length:
                self.add_mark(number, block.words[0], block.words + 1, block.marks, block.mark_count, k, sums)
        self.step(sums, 0)
        self.ahead = 0
        self.collect_events(block, AFTER_ALL)
        if self.captures is not None:
            self.captures.apply_until(LAST_ITEM)

    cdef void collect_events(self, const ObservedBlock* block, uint32_t place) noexcept nogil:
        """Counts the events of an instruction; or cycles in which nothing dispatched, before the block or after it."""
        cdef uint32_t k
        for k in range(0, block.item_count, 2):
            if self.place_in(block.items[k], block.words[0] & BLOCK_MASK) == place:
                if self.captures is not None:
                    self.captures.apply_until(k)
                self.take_item(block.items + k, k)

    cdef void add_cycle(self, const ObservedBlock* block, uint32_t instruction, int64_t* sums) noexcept nogil:
        """Adds the cycle that an instruction ended, if any."""
        cdef uint32_t k
        for k in range(0, block.item_count, 2):
            if self.place_in(block.items[k], block.words[0] & BLOCK_MASK) == instruction + CYCLE:
                self.add_item(block.items + k, sums)
                if self.cycles_of(block.items + k):
                    self.time += self.cycles_of(block.items + k)
                    self.ahead = 0
