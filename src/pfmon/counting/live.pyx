"""Counting while the program runs: a countdown to the next overflow of each counter.

A run of a block adds a vector, known by its word (and by its node in the machine's memo). While that fits into what is
left of every counter, it is subtracted, and that is all. A block that would take a counter across is taken apart, item
by item of the machine's records and instruction by instruction: the overflow happens at the exact instruction, the
listener is called there, and may freeze the counters, load them, and let counting go on. The increments are those of
totals (increments.pyx, cycles.pyx).
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pfmon.counting.increments cimport Counted, MarkTerm, Weight, mark_increment
from pfmon.counting.sink cimport NO_BLOCK
from pfmon.stream.table cimport (
    ALWAYS, BlockAccess, BlockHead, BlockInstruction, Cut, accesses_of, executed, most_accesses)
from pfmon.stream.words cimport BLOCK_MASK, Mark, NO_INSTRUCTION, mark_instruction, mark_kind, unpacked_address

cdef enum:
    BUBBLE_FLAG = 0x80000000     # of an item (machine/records.pyx)
    COLLECTION = 0x1F8           # address bits 8:3 of a word of the backing store that holds NaT bits

cdef int64_t NEVER = <int64_t>1 << 62


cdef inline uint64_t word_place(uint64_t word) noexcept nogil:
    """Where what a run with a word adds is kept."""
    return (word ^ (word >> 32) * 0x9E5) & (WORDS - 1)


cdef inline uint64_t hashed(uint64_t a, uint64_t b) noexcept nogil:
    a = (a ^ b * <uint64_t>0x9E3779B97F4A7C15) * <uint64_t>0xD6E8FEB86659FD93
    return a >> 40


cdef class Live(Items):
    """``increments``: of the monitors; ``cycles``: the same monitors' looks at a machine's records, None without one;
    ``ranges``: (address, mask) of the data ranges; ``on_overflow(monitors, address, retired)`` is called with the numbers
    of the monitors whose counters wrapped, the address of the instruction that did it (0: none) and how many have
    retired, itself included. It sets `load` and `freeze` as the PMU is then. ``calls`` is as the block found it when
    on_overflow is called."""

    def __cinit__(self, BlockTable table, Increments increments, bint traced, on_overflow, ranges=None,
                  CycleCounts cycles=None, CallStack calls=None):
        self.table, self.traced, self.on_overflow, self.calls = table, traced, on_overflow, calls
        self.last = NO_BLOCK
        self.program(increments, ranges, cycles)

    def program(self, Increments increments, ranges=None, CycleCounts cycles=None):
        """Count with other monitors from here on; all counts begin at 0. ValueError: more than there is room for, or
        data ranges without addresses in the stream."""
        cdef uint32_t m, t
        cdef const Counted* counted
        if increments.monitors > MOST_MONITORS:
            raise ValueError(f"{increments.monitors} monitors count at once: there is room for {MOST_MONITORS}")
        self.increments, self.cycles = increments, cycles
        self.monitors = increments.monitors
        self.scratch = Sink(self.monitors)
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
            self.left[m], self.counted[m] = NEVER, 0
            counted = &increments.counted[m]
            self.ranged |= counted.ranged
            for t in range(counted.mark_terms):
                self.mark_kinds |= <uint64_t>1 << counted.mark_term[t].kind
        self.ranges = len(ranges or ())
        for m, (address, mask) in enumerate(ranges or ()):
            self.range_address[m], self.range_mask[m] = address & mask, mask
        if self.ranged and not self.traced:
            raise ValueError("data ranges need the addresses of accesses in the stream")

    def __dealloc__(self):
        free(self.words)
        free(self.nodes)

    # --- the counters

    def counts(self):
        """What every monitor has counted so far."""
        return [self.counted[m] for m in range(self.monitors)]

    def load(self, uint32_t monitor, left):
        """So many increments from here on the monitor's counter wraps; None: nobody looks whether it does."""
        self.left[monitor] = NEVER if left is None else left

    def freeze(self, bint frozen):
        """Whether nothing counts from here on."""
        self.frozen = frozen

    # --- the stream (without a machine), and a machine's blocks

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0
        cdef BlockItems block
        memset(&block, 0, sizeof(block))
        self.behind = words
        while i < count:
            if not self.frozen and not self.ranged:
                i += self.pass_whole(words + i, count - i)
                if i == count:
                    break
            block.words = NULL
            if words[i] >> 63 == 0:
                block.words = words + i
                i += 1 + (accesses_of(&self.table.c.heads[words[i] & BLOCK_MASK], words[i]) if self.traced else 0)
            block.marks = words + i
            while i < count and words[i] >> 63:
                i += 1
            block.mark_count = <uint32_t>(words + i - block.marks)
            self.take_block(&block)
        if self.calls is not None:
            self.calls.read(self.behind, words + count - self.behind)
        self.behind = NULL

    cdef uint64_t pass_whole(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Count blocks up to one that takes a counter across, or has marks that count; how many words these were."""
        cdef uint64_t i = 0, next_block, word, marks, retired = self.retired, last = self.last
        cdef int64_t left = self.left[0], begin = left
        cdef const uint64_t* entry
        cdef bint single = self.monitors == 1
        while i < count:
            word = words[i]
            if word >> 63:                   # of the block before, and nobody counts it; or of none that is here
                if i == 0 or (self.mark_kinds >> mark_kind(word)) & 1:
                    break
                i += 1
                continue
            next_block = i + 1
            if self.traced:
                next_block += accesses_of(&self.table.c.heads[word & BLOCK_MASK], word)
            marks = next_block
            while marks < count and words[marks] >> 63 and not (self.mark_kinds >> mark_kind(words[marks])) & 1:
                marks += 1
            if marks < count and words[marks] >> 63:
                break                        # a mark that counts: the block is taken with it
            entry = self.words + word_place(word) * (HEAD + self.monitors)
            if entry[0] != word:
                self.of_word(word)
            if single:
                if <int64_t>entry[HEAD] >= left:
                    break
                left -= <int64_t>entry[HEAD]
            elif self.fits(<const int64_t*>entry + HEAD):
                self.commit(<const int64_t*>entry + HEAD)
            else:
                break
            retired += entry[1]
            last = word & BLOCK_MASK
            i = marks
        self.retired, self.last = retired, last
        if single:
            self.counted[0] += begin - left
            self.left[0] = left
        return i

    cdef void follow(self, uint64_t block) noexcept nogil:
        self.last = block

    cdef void take(self, const BlockItems* block) noexcept nogil:
        if self.calls is None or block.words == NULL:
            self.take_block(block)
            return
        self.calls.arrive(block.words[0])
        self.take_block(block)
        self.calls.leave(block.words[0])

    cdef void take_block(self, const BlockItems* block) noexcept nogil:
        cdef int64_t sums[MOST_MONITORS]
        cdef const int64_t* known
        cdef uint64_t k, number
        cdef uint32_t m
        cdef bint simple = block.item_count == 0 and block.node_item_count == 0 and not self.ranged
        number = block.words[0] & BLOCK_MASK if block.words != NULL else self.last
        if self.frozen:
            self.pass_by(block)
            return
        for k in range(block.mark_count):
            if (self.mark_kinds >> mark_kind(block.marks[k])) & 1:
                simple = False
        if simple:
            if block.words == NULL:
                return
            known = self.of_word(block.words[0])
            if self.fits(known):
                self.commit(known)
                self.pass_by(block)
            else:
                self.take_apart(block)
            return
        memset(sums, 0, self.monitors * sizeof(int64_t))
        if block.node_item_count:
            known = self.of_node(block)
            for m in range(self.monitors):
                sums[m] += known[m]
        for k in range(0, block.item_count, 2):
            self.add_item(block.items + k, sums)
        if block.words != NULL:
            known = self.of_word(block.words[0])
            for m in range(self.monitors):
                sums[m] += known[m]
            if self.ranged:
                self.add_ranged(block.words[0], block.words + 1, sums)
        for k in range(block.mark_count):
            self.add_mark(number, block.words[0] if block.words != NULL else 0,
                          block.words + 1 if block.words != NULL else NULL, block.marks, block.mark_count, k, sums)
        if self.fits(sums):
            self.commit(sums)
            self.pass_by(block)
        else:
            self.take_apart(block)

    cdef void pass_by(self, const BlockItems* block) noexcept nogil:
        if block.words != NULL:
            self.last = block.words[0] & BLOCK_MASK
            self.retired += self.table.c.heads[self.last].length

    cdef bint fits(self, const int64_t* sums) noexcept nogil:
        """Whether no counter wraps."""
        cdef uint32_t m
        for m in range(self.monitors):
            if sums[m] >= self.left[m]:
                return False
        return True

    cdef void commit(self, const int64_t* sums) noexcept nogil:
        cdef uint32_t m
        for m in range(self.monitors):
            self.counted[m] += sums[m]
            self.left[m] -= sums[m]

    # --- what a block adds

    cdef const int64_t* of_word(self, uint64_t word) noexcept nogil:
        """What a run with this word adds, accesses in data ranges and marks left out."""
        cdef uint64_t* entry = self.words + word_place(word) * (HEAD + self.monitors)
        cdef int64_t* sums = <int64_t*>(entry + HEAD)
        cdef uint32_t i
        if entry[0] != word:
            entry[0], entry[1] = word, self.table.c.heads[word & BLOCK_MASK].length
            memset(sums, 0, self.monitors * sizeof(int64_t))
            for i in range(self.table.c.heads[word & BLOCK_MASK].length):
                self.add_instruction(word, i, 0, sums)
        return sums

    cdef const int64_t* of_node(self, const BlockItems* block) noexcept nogil:
        """What a run of a node of the machine's memo adds to the records."""
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
        """What an instruction adds; for monitors with data ranges only if ``address``, of its access, is in them."""
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
            weight = self.increments.weigh(m, instruction, head.cut == Cut.FAILED_CHECK and i == head.length - 1)
            if not self.increments.counted[m].ranged:
                sums[m] += weight.retired + (weight.executed if held else 0)
            elif address and held and instruction.access and self.in_range(address):
                sums[m] += weight.executed

    cdef void add_ranged(self, uint64_t word, const uint64_t* addresses, int64_t* sums) noexcept nogil:
        """What the accesses of a run in the data ranges add."""
        cdef const BlockHead* head = &self.table.c.heads[word & BLOCK_MASK]
        cdef const BlockAccess* access = self.table.c.accesses + head.first_access
        cdef const BlockInstruction* instruction
        cdef uint64_t place, k = 0, passing
        cdef uint32_t m
        for place in range(most_accesses(head)):
            if not executed(word, access[place].condition):
                continue
            if self.in_range(addresses[k]):
                instruction = &self.table.c.instructions[head.first + access[place].instruction]
                passing = self.increments.passing(instruction, self.table.c.payloads + (
                    head.first + access[place].instruction) * self.table.c.header.payload_bytes)
                for m in range(self.monitors):
                    if self.increments.counted[m].ranged and (passing >> self.increments.counted[m].filter) & 1:
                        sums[m] += self.increments.weigh(m, instruction, False).executed
            k += 1

    cdef void add_mark(self, uint64_t block, uint64_t word, const uint64_t* addresses, const uint64_t* marks,
                       uint64_t count, uint64_t k, int64_t* sums) noexcept nogil:
        """What one mark of a block adds."""
        cdef uint64_t mark = marks[k], number = mark_instruction(mark), passing, inside = 0, registers, address
        cdef int kind = mark_kind(mark)
        cdef const BlockInstruction* instruction = NULL
        cdef const uint8_t* payload = NULL
        cdef const BlockHead* head
        cdef const Counted* counted
        cdef uint32_t m, t
        cdef bint found = False
        if not (self.mark_kinds >> kind) & 1:
            return
        if block != NO_BLOCK and number < self.table.c.heads[block].length:
            head = &self.table.c.heads[block]
            instruction = &self.table.c.instructions[head.first + number]
            payload = self.table.c.payloads + (head.first + number) * self.table.c.header.payload_bytes
        passing = self.increments.passing(instruction, payload)
        if self.ranged:
            if kind == Mark.SPILL or kind == Mark.FILL:
                if k + 1 < count and mark_kind(marks[k + 1]) == Mark.RSE_ADDRESS:
                    registers, address = mark & 0xFFFF, unpacked_address(marks[k + 1])
                    while registers:
                        if address & COLLECTION != COLLECTION:
                            inside += self.in_range(address)
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

    cdef bint inside(self, uint64_t number, uint64_t word, const uint64_t* addresses, uint64_t instruction) noexcept nogil:
        """Whether the access that an instruction of a run made was in the data ranges; one that made none was not."""
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef const BlockAccess* access = self.table.c.accesses + head.first_access
        cdef uint64_t place, k = 0
        for place in range(most_accesses(head)):
            if executed(word, access[place].condition):
                if access[place].instruction == instruction:
                    return self.in_range(addresses[k])
                k += 1
        return False

    cdef bint in_range(self, uint64_t address) noexcept nogil:
        cdef uint32_t i
        for i in range(self.ranges):
            if address & self.range_mask[i] == self.range_address[i]:
                return True
        return False

    cdef void add_item(self, const uint32_t* item, int64_t* sums) noexcept nogil:
        """What one of the machine's records adds, as often as it says."""
        cdef uint32_t m
        if item[0] & BUBBLE_FLAG:
            self.cycles.add_bubble(item[0] & ~<uint32_t>BUBBLE_FLAG, item[1], self.scratch)
        else:
            self.cycles.add_part(item[0], item[1], self.scratch)
        for m in range(self.monitors):
            sums[m] += self.scratch.sums[m]
            self.scratch.sums[m] = 0

    # --- a block in which a counter wraps

    cdef void take_apart(self, const BlockItems* block) noexcept nogil:
        """The machine's records first, then the instructions, each with its marks."""
        cdef int64_t sums[MOST_MONITORS]
        cdef const BlockHead* head
        cdef uint64_t word = 0, k, number = self.last, access = 0, address
        cdef const uint64_t* addresses = NULL
        cdef uint32_t i
        if self.calls is not None and self.behind != NULL and block.words != NULL:
            self.calls.read(self.behind, block.words - self.behind)
            self.calls.arrive(block.words[0])
            self.behind = block.words
        for k in range(0, block.node_item_count, 2):
            self.take_item(block.node_items + k)
        for k in range(0, block.item_count, 2):
            self.take_item(block.items + k)
        if block.words != NULL:
            word, addresses = block.words[0], block.words + 1
            number = self.last = word & BLOCK_MASK
            head = &self.table.c.heads[number]
            for i in range(head.length):
                memset(sums, 0, self.monitors * sizeof(int64_t))
                address = 0
                if self.traced and self.table.c.instructions[head.first + i].access and executed(
                        word, self.table.c.instructions[head.first + i].condition):
                    address = addresses[access]
                    access += 1
                self.add_instruction(word, i, address, sums)
                for k in range(block.mark_count):
                    if mark_instruction(block.marks[k]) == i and mark_kind(block.marks[k]) != Mark.RSE_ADDRESS:
                        self.add_mark(number, word, addresses, block.marks, block.mark_count, k, sums)
                self.retired += 1
                self.step(sums, self.table.c.instructions[head.first + i].address)
        memset(sums, 0, self.monitors * sizeof(int64_t))
        for k in range(block.mark_count):
            if mark_kind(block.marks[k]) != Mark.RSE_ADDRESS and (
                    block.words == NULL or mark_instruction(block.marks[k]) >= self.table.c.heads[number].length):
                self.add_mark(number, word, addresses, block.marks, block.mark_count, k, sums)
        self.step(sums, 0)

    cdef void take_item(self, const uint32_t* item) noexcept nogil:
        """One record of the machine, one time after the other."""
        cdef int64_t sums[MOST_MONITORS]
        cdef uint32_t single[2]
        cdef uint32_t times
        single[0], single[1] = item[0], 1
        for times in range(item[1]):
            memset(sums, 0, self.monitors * sizeof(int64_t))
            self.add_item(single, sums)
            self.step(sums, self.place_of(item[0]))

    cdef uint64_t place_of(self, uint32_t item) noexcept nogil:
        """The address of the instruction that a record ends with, 0: of none."""
        cdef uint64_t code
        cdef uint32_t instruction
        cdef const BlockHead* head
        if item & BUBBLE_FLAG:
            code = self.cycles.records.bubble_keys[item & ~<uint32_t>BUBBLE_FLAG]
            instruction = <uint32_t>(code >> 32 & 0xFF)
        else:
            code = self.cycles.records.parts[item].code
            instruction = <uint32_t>(code >> 40 & 0xFF)
        if code & 0xFFFFFFFFULL == NO_BLOCK:
            return 0
        head = &self.table.c.heads[code & 0xFFFFFFFFULL]
        return self.table.c.instructions[head.first + min(instruction, head.length - 1)].address

    cdef void step(self, const int64_t* sums, uint64_t address) noexcept nogil:
        """Count what one instruction or cycle adds; the counters that wrap by it do so together."""
        cdef uint64_t wrapped = 0
        cdef uint32_t m
        if self.frozen:
            return
        for m in range(self.monitors):
            if sums[m] >= self.left[m]:
                wrapped |= <uint64_t>1 << m
        self.commit(sums)
        if wrapped:
            with gil:
                try:
                    self.on_overflow([m for m in range(self.monitors) if wrapped >> m & 1], address, self.retired)
                except BaseException as error:   # of the listener's: raised again when the run has ended
                    self.error, self.frozen = error, True
