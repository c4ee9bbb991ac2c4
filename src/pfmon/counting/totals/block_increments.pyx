"""Increments that a run of a block, or of a node of the machine's memo, adds to monitors; cached by word and by node.

The increments are those of totals (increments.pyx, record_counts.pyx).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pfmon.machine._machine cimport BUBBLE_FLAG, in_ranges, set_ranges
from pfmon.stream._stream cimport (
    BLOCK_MASK, BlockAccess, BlockHead, BlockInstruction, Cut, Mark, accesses_of, executed, is_second, mark_instruction,
    mark_kind, max_accesses, unpacked_address)

cdef enum:
    COLLECTION = 0x1F8           # address bits 8:3 of a word of the backing store that holds NaT bits


cdef inline uint64_t hashed(uint64_t a, uint64_t b) noexcept nogil:
    a = (a ^ b * <uint64_t>0x9E3779B97F4A7C15) * <uint64_t>0xD6E8FEB86659FD93
    return a >> 40


cdef class BlockIncrements(RecordObserver):
    """``traced``: the stream has addresses. `describe` has to be called first."""

    def __dealloc__(self):
        free(self.words)
        free(self.nodes)

    cdef int describe(self, Increments increments, ranges, RecordCounts cycles) except -1:
        """Sets the monitors. ValueError: too many, or data ranges without addresses in the stream."""
        cdef uint32_t m, t
        cdef const CompiledCounts* counted
        if increments.monitors > MAX_MONITORS:
            raise ValueError(f"{increments.monitors} monitors count at once: there is room for {MAX_MONITORS}")
        self.increments, self.cycles = increments, cycles
        self.monitors = increments.monitors
        self.scratch = CountAccumulator(self.monitors)
        free(self.words)
        free(self.nodes)
        self.words = <uint64_t*>calloc(WORDS * (HEAD + self.monitors), sizeof(uint64_t))
        self.nodes = <uint64_t*>calloc(NODES * (HEAD + self.monitors), sizeof(uint64_t)) if cycles is not None else NULL
        if self.words == NULL or (cycles is not None and self.nodes == NULL):
            raise MemoryError
        for m in range(WORDS):
            self.words[m * (HEAD + self.monitors)] = ~<uint64_t>0        # no block's word
        self.ranged = False
        self.mark_kinds = 0
        for m in range(self.monitors):
            counted = &increments.counted[m]
            self.ranged |= counted.ranged
            for t in range(counted.mark_terms):
                self.mark_kinds |= <uint64_t>1 << counted.mark_term[t].kind
        set_ranges(&self.ranges, ranges)
        if self.ranged and not self.traced:
            raise ValueError("data ranges need the addresses of accesses in the stream")
        return 0

    def set_ranges(self, ranges):
        """Sets the data ranges: (address, mask) each."""
        set_ranges(&self.ranges, ranges)

    cdef uint64_t read_block(self, const uint64_t* words, uint64_t count, ObservedBlock* to) noexcept nogil:
        """Reads the next block of a stream, with its addresses and marks, or marks without a block; returns the number
        of words."""
        cdef uint64_t i = 0
        to.words = NULL
        if words[0] >> 63 == 0:
            to.words = words
            i = 1 + (accesses_of(&self.table.c.heads[words[0] & BLOCK_MASK], words[0]) if self.traced else 0)
        to.marks = words + i
        while i < count and words[i] >> 63:
            i += 1
        to.mark_count = <uint32_t>(words + i - to.marks)
        return i

    cdef const int64_t* of_word(self, uint64_t word) noexcept nogil:
        """Returns the increments of a run with this word, without accesses in data ranges and marks."""
        cdef uint64_t* entry = self.words + word_index(word) * (HEAD + self.monitors)
        cdef int64_t* sums = <int64_t*>(entry + HEAD)
        cdef uint32_t i
        if entry[0] != word:
            entry[0], entry[1] = word, self.table.c.heads[word & BLOCK_MASK].length
            memset(sums, 0, self.monitors * sizeof(int64_t))
            for i in range(self.table.c.heads[word & BLOCK_MASK].length):
                self.add_instruction(word, i, 0, sums)
        return sums

    cdef const int64_t* of_node(self, const ObservedBlock* block) noexcept nogil:
        """Returns the increments of the records of a run of a node of the machine's memo."""
        cdef uint64_t* entry = self.nodes + (hashed(block.node, 1) & (NODES - 1)) * (HEAD + self.monitors)
        cdef int64_t* sums = <int64_t*>(entry + HEAD)
        cdef uint32_t k
        if entry[0] != block.node or entry[1] != block.generation + 1:
            entry[0], entry[1] = block.node, block.generation + 1
            memset(sums, 0, self.monitors * sizeof(int64_t))
            for k in range(0, block.node_item_count, 2):
                self.add_item(block.node_items + k, sums)
        return sums

    cdef void add_instruction(self, uint64_t word, uint32_t i, uint64_t address, int64_t* sums) noexcept nogil:
        """Adds an instruction's increments; for monitors with data ranges only if ``address``, its access, is
        inside."""
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        cdef const BlockInstruction* instruction = &self.table.c.instructions[head.first + i]
        cdef uint64_t passing = self.increments.passing(
            instruction, self.table.c.payloads + (head.first + i) * self.table.c.header.payload_bytes)
        cdef bint held = executed(word, instruction.condition)
        cdef Weight weight
        cdef uint32_t m
        for m in range(self.monitors):
            if not (passing >> self.increments.counted[m].filter) & 1:
                continue
            weight = self.increments.increment_of(m, instruction, head.cut == Cut.FAILED_CHECK and i == head.length - 1)
            if not self.increments.counted[m].ranged:
                sums[m] += weight.retired + (weight.executed if held else 0)
            elif address and held and instruction.access and in_ranges(&self.ranges, address):
                sums[m] += weight.executed

    cdef void add_ranged(self, uint64_t word, const uint64_t* addresses, int64_t* sums) noexcept nogil:
        """Adds the increments of a run's accesses in the data ranges."""
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        cdef const BlockAccess* access = self.table.c.accesses + head.first_access
        cdef const BlockInstruction* instruction
        cdef uint64_t place, k = 0, passing
        cdef uint32_t m
        for place in range(max_accesses(head)):
            if not executed(word, access[place].condition):
                continue
            if in_ranges(&self.ranges, addresses[k]) and not is_second(access, place):
                instruction = &self.table.c.instructions[head.first + access[place].instruction]
                passing = self.increments.passing(instruction, self.table.c.payloads + (
                    head.first + access[place].instruction) * self.table.c.header.payload_bytes)
                for m in range(self.monitors):
                    if self.increments.counted[m].ranged and (passing >> self.increments.counted[m].filter) & 1:
                        sums[m] += self.increments.increment_of(m, instruction, False).executed
            k += 1

    cdef void add_mark(self, uint64_t block, uint64_t word, const uint64_t* addresses, const uint64_t* marks,
                       uint64_t count, uint64_t k, int64_t* sums) noexcept nogil:
        """Adds the increments of one mark of a block."""
        cdef uint64_t mark = marks[k], number = mark_instruction(mark), passing, inside = 0, registers, address
        cdef int kind = mark_kind(mark)
        cdef const CompiledCounts* counted
        cdef uint32_t m, t
        cdef bint found = False
        if not (self.mark_kinds >> kind) & 1:
            return
        passing = self.increments.passing_at(&self.table.c, block, <uint32_t>number)
        if self.ranged:
            if kind == Mark.SPILL or kind == Mark.FILL:
                if k + 1 < count and mark_kind(marks[k + 1]) == Mark.RSE_ADDRESS:
                    registers, address = mark & 0xFFFF, unpacked_address(marks[k + 1])
                    while registers:
                        if address & COLLECTION != COLLECTION:
                            inside += in_ranges(&self.ranges, address)
                            registers -= 1
                        address += 8
            elif addresses != NULL and (
                    kind == Mark.MISALIGNED_LOAD or kind == Mark.MISALIGNED_STORE or kind == Mark.ALAT_MISS):
                found = self.inside(block, word, addresses, number)
        for m in range(self.monitors):
            counted = &self.increments.counted[m]
            if not (passing >> counted.filter) & 1:
                continue
            for t in range(counted.mark_terms):
                if counted.mark_term[t].kind != <uint32_t>kind:
                    continue
                if not counted.ranged or found:
                    sums[m] += mark_increment(&counted.mark_term[t], mark)
                elif inside:             # registers of the register stack engine
                    sums[m] += mark_increment(&counted.mark_term[t], inside)

    cdef bint inside(self, uint64_t number, uint64_t word, const uint64_t* addresses,
                     uint64_t instruction) noexcept nogil:
        """Whether the access of an instruction in a run was in the data ranges; False without an access."""
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef const BlockAccess* access = self.table.c.accesses + head.first_access
        cdef uint64_t place, k = 0
        for place in range(max_accesses(head)):
            if executed(word, access[place].condition):
                if access[place].instruction == instruction:
                    return in_ranges(&self.ranges, addresses[k])
                k += 1
        return False

    cdef void add_item(self, const uint32_t* item, int64_t* sums) noexcept nogil:
        """Adds the increments of one machine record, times its count."""
        cdef uint32_t m
        if item[0] & BUBBLE_FLAG:
            self.cycles.add_bubble(item[0] & ~<uint32_t>BUBBLE_FLAG, item[1], self.scratch)
        else:
            self.cycles.add_part(item[0], item[1], self.scratch)
        for m in range(self.monitors):
            sums[m] += self.scratch.sums[m]
            self.scratch.sums[m] = 0
