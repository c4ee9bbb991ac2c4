"""Counting while the program runs: a countdown to the next overflow of each counter.

The increments of a run of a block are a vector, cached by the block's word (and by its node in the machine's memo;
block_increments.pyx). If no counter overflows in the block, the vector is subtracted from the countdowns. Otherwise the
block is counted record by record and instruction by instruction: the listener is called at the instruction of the
overflow, and may freeze the counters, load them, and resume counting.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from pfmon.machine._machine cimport BUBBLE_FLAG, Captured, NOTHING_HAPPENED
from pfmon.stream._stream cimport (
    BLOCK_MASK, BlockHead, BlockTable, Mark, accesses_of, executed, address_count, mark_instruction, mark_kind)

cdef enum:
    LAST_ITEM = 0xFFFFFFFF
    LAST_INSTRUCTION = 0xFFFFFFFF

cdef int64_t NEVER = <int64_t>1 << 62


cdef class LiveCounting(OverflowInterrupts):
    """``increments``: of the monitors; ``cycles``: the same monitors' record queries, None without a machine;
    ``ranges``: (address, mask) of the data ranges; ``on_overflow(monitors, address, retired)`` is called with the
    numbers of the monitors whose counters overflowed, the address of the instruction that caused it (0: none) and the
    number of retired instructions, itself included. It calls `load` and `freeze` as the PMU requires. During
    on_overflow ``calls`` is the call stack at the start of the block, and ``captures`` (the machine's capture listener)
    is at the overflow. ``skid``: on_overflow is called so many cycles later, with the bundle reached by then; nothing
    counts in between. ``sampler`` handles overflows instead of on_overflow, and loads the counters. ``times``: a
    monitor behind the counters is a trigger: all others wait until it has counted so much. ``until``: the last monitor
    ends counting when it has counted so much after that."""

    def __cinit__(self, BlockTable table, Increments increments, bint traced, on_overflow, ranges=None,
                  RecordCounts cycles=None, CallStack calls=None, CaptureUnits captures=None,
                  int64_t skid=0, Sampler sampler=None, times=None, until=None):
        cdef uint32_t m
        self.table, self.traced, self.on_overflow, self.calls = table, traced, on_overflow, calls
        self.least_skid, self.sampler = skid, sampler
        self.last = NO_BLOCK
        m = increments.monitors - (until is not None)
        self.until = <uint64_t>1 << m if until is not None else 0
        self.trigger = <uint64_t>1 << (m - 1) if times is not None else 0
        self.program(increments, ranges, cycles, captures)
        if until is not None:
            self.left[m] = until
        if times is not None:
            self.left[m - 1] = times

    def program(self, Increments increments, ranges=None, RecordCounts cycles=None, CaptureUnits captures=None):
        """Replaces the monitors; all counts begin at 0. ValueError: more than there is room for, or data ranges without
        addresses in the stream."""
        cdef uint32_t m
        self.counters = increments.monitors - (self.trigger != 0) - (self.until != 0)
        self.captures = captures
        if self.sampler is not None and self.counters != self.sampler.count:
            raise ValueError("the sampler has other counters")
        self.skid = max(self.least_skid, captures.delay if captures is not None else 0)
        self.describe(increments, ranges, cycles)
        for m in range(self.counters):
            self.left[m] = self.sampler.load(m, False) if self.sampler is not None else NEVER
            self.counted[m] = 0
        self.set_off()

    # --- the counters

    def counts(self):
        """Returns the counts of all monitors so far."""
        return [self.counted[m] for m in range(self.counters)]

    def increments_left(self):
        """Returns how many increments are left before each monitor's counter overflows."""
        return [self.left[m] for m in range(self.monitors)]

    def load(self, uint32_t monitor, left):
        """Sets the increments left before the monitor's counter overflows; None: overflows are ignored."""
        self.left[monitor] = NEVER if left is None else left

    def freeze(self, bint frozen):
        """Freezes or unfreezes all counters."""
        self.frozen = frozen

    def disable_counters(self, uint64_t monitors):
        """Disables the counters of these monitors, a bit each, until the next call."""
        self.waiting_for_others = monitors
        self.set_off()

    # --- the stream (without a machine), and a machine's blocks

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0
        cdef ObservedBlock block
        memset(&block, 0, sizeof(block))
        self.behind = words
        while i < count:
            if not self.frozen and not self.ranged:
                i += self.pass_whole(words + i, count - i)
                if i == count:
                    break
            i += self.read_block(words + i, count - i, &block)
            self.count_block(&block)
        if self.calls is not None:
            self.calls.read(self.behind, words + count - self.behind)
        self.behind = NULL

    cdef uint64_t pass_whole(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Counts blocks up to an overflow, or to marks that count; returns the number of words."""
        cdef uint64_t i = 0, next_block, word, marks, retired = self.retired, last = self.last
        cdef int64_t left = self.left[0], begin = left
        cdef const uint64_t* entry
        cdef bint single = self.monitors == 1 and not self.off
        while i < count:
            word = words[i]
            if word >> 63:                   # of the block before, and not counted; or without a block
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
                break                        # a mark that counts: the block is processed with it
            entry = self.words + word_index(word) * (HEAD + self.monitors)
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

    cdef void on_block(self, const ObservedBlock* block) noexcept nogil:
        if self.calls is None:
            self.count_block(block)
            return
        if block.words != NULL:
            self.calls.arrive(block.words[0])
        self.count_block(block)
        if block.words != NULL:
            self.calls.end_block(block.words[0])
            self.calls.retire_block(block.mispredicted, block.now)
        self.calls.read(block.marks, block.mark_count)

    cdef void count_block(self, const ObservedBlock* block) noexcept nogil:
        cdef int64_t sums[MAX_MONITORS]
        cdef const int64_t* known
        cdef uint64_t k, number
        cdef uint32_t m
        cdef bint simple = block.item_count == 0 and block.node_item_count == 0 and not self.ranged
        number = block.words[0] & BLOCK_MASK if block.words != NULL else self.last
        if self.captures is not None:
            self.captures.applied = 0
        self.begun = self.retired
        self.from_item = self.from_time = self.from_instruction = 0
        self.resumed = False
        if self.sliding:
            self.slide(block, 0, 0, 0)
            if self.resumed and not self.frozen:
                self.count_by_instruction(block)
            else:
                self.skip_block(block)
            return
        if self.frozen:
            self.skip_block(block)
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
                if self.captures is not None:
                    self.captures.apply_until(LAST_ITEM)
                self.skip_block(block)
            else:
                self.count_by_instruction(block)
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
            if self.captures is not None:
                self.captures.apply_until(LAST_ITEM)
                if self.captures.traces_addresses:
                    self.trace_items(block.node_items, block.node_item_count)
                    self.trace_items(block.items, block.item_count)
            self.skip_block(block)
        else:
            self.count_by_instruction(block)

    cdef void skip_block(self, const ObservedBlock* block) noexcept nogil:
        if block.words != NULL:
            self.last = block.words[0] & BLOCK_MASK
            self.retired += self.table.c.heads[self.last].length

    # --- a block in which a counter overflows

    cdef void count_by_instruction(self, const ObservedBlock* block) noexcept nogil:
        """Counts each instruction with its marks, after the machine's records up to its cycle of issue. With a skid or
        an IP-EAR all records are counted first: they determine the cycle of the interrupt. The IP-EAR then gets them
        again."""
        cdef int64_t sums[MAX_MONITORS]
        cdef const BlockHead* head
        cdef uint64_t word = 0, k, number = self.last, access = 0, address
        cdef uint32_t i, records = block.node_item_count + block.item_count
        cdef const uint64_t* addresses = NULL
        cdef bint apart = self.skid != 0 or (self.captures is not None and self.captures.traces_addresses)
        if self.calls is not None and self.behind != NULL and block.words != NULL:
            self.calls.read(self.behind, block.words - self.behind)
            self.calls.arrive(block.words[0])
            self.behind = block.words
        if self.captures is not None and self.captures.traces_addresses:
            self.captures.keep_trace()
            self.shown = self.issued = 0
        if self.captures is not None and block.words != NULL and self.captures.count:
            records = block.node_item_count + self.captures.captured[0].item   # captures come with their instructions
        self.taken = self.covered = 0
        if self.cycles is not None:
            self.time, self.ahead = self.time_at(block, 0, 0), 0
        if block.words == NULL or apart:
            self.count_records(block, records, LAST_INSTRUCTION)
        if block.words != NULL:
            word, addresses = block.words[0], block.words + 1
            number = self.last = word & BLOCK_MASK
            head = &self.table.c.heads[number]
            if self.captures is not None and not self.resumed:
                self.captures.restore_trace()
            for i in range(head.length):
                if i >= self.covered and self.taken < records:
                    self.count_records(block, records, i)
                memset(sums, 0, self.monitors * sizeof(int64_t))
                address = 0
                if self.traced and self.table.c.instructions[head.first + i].access and executed(
                        word, self.table.c.instructions[head.first + i].condition):
                    address = addresses[access]
                    access += address_count(&self.table.c.instructions[head.first + i])
                self.add_instruction(word, i, address, sums)
                for k in range(block.mark_count):
                    if mark_instruction(block.marks[k]) == i and mark_kind(block.marks[k]) != Mark.RSE_ADDRESS:
                        self.add_mark(number, word, addresses, block.marks, block.mark_count, k, sums)
                self.retired += 1
                self.ahead = i >= self.covered           # its cycle is still open
                if apart and self.cycles is not None:
                    self.time = self.issue_time(block, i)
                if self.captures is not None:
                    self.trace_until(block, i + 1)
                    self.collect_captures(block, i)
                if i < self.from_instruction:
                    continue
                if self.step(sums, self.table.c.instructions[head.first + i].address):
                    self.slide(block, 0, 0, i + 1)
            self.count_records(block, records, LAST_INSTRUCTION)
        if self.captures is not None:
            self.trace_until(block, LAST_INSTRUCTION)
            self.collect_captures(block, LAST_INSTRUCTION)
        memset(sums, 0, self.monitors * sizeof(int64_t))
        for k in range(block.mark_count):
            if mark_kind(block.marks[k]) != Mark.RSE_ADDRESS and (
                    block.words == NULL or mark_instruction(block.marks[k]) >= self.table.c.heads[number].length):
                self.add_mark(number, word, addresses, block.marks, block.mark_count, k, sums)
        self.step(sums, 0)
        self.ahead = 0

    cdef uint64_t issue_time(self, const ObservedBlock* block, uint32_t instruction) noexcept nogil:
        """Returns the cycles recorded up to the one in which an instruction issued; `ahead`: that is still open."""
        cdef uint64_t time = self.time_at(block, 0, 0), code
        cdef uint32_t place
        cdef const uint32_t* item
        for place in range(0, block.node_item_count + block.item_count, 2):
            item = block.node_items + place if place < block.node_item_count else (
                block.items + place - block.node_item_count)
            time += self.cycles_of(item)
            if item[0] & BUBBLE_FLAG == 0:
                code = self.cycles.records.parts[item[0]].code
                if code & 0xFFFFFFFFULL == block.words[0] & BLOCK_MASK and (code >> 32 & 0xFF) <= (code >> 40 & 0xFF) \
                        and (code >> 40 & 0xFF) >= instruction:
                    return time
        return time

    cdef void count_records(self, const ObservedBlock* block, uint32_t beyond, uint32_t instruction) noexcept nogil:
        """Counts the machine's remaining records before index ``beyond`` (the memo's records first), up to the
        cycle in which an instruction of the block issued. An instruction without a record issued in the cycle that is
        open when the block ends."""
        cdef uint32_t place, used, begin, end
        cdef uint64_t code
        cdef const uint32_t* item
        self.ahead = 0
        while self.taken < beyond:
            place = self.taken
            item = block.node_items + place if place < block.node_item_count else (
                block.items + place - block.node_item_count)
            if place >= block.node_item_count and self.captures is not None and not self.frozen:
                self.captures.apply_until(place - block.node_item_count)
            used = self.take_item(item, place)
            if used:
                self.slide(block, place, used, 0)
                if self.resumed and self.from_item == place:
                    continue                             # the rest of it
            self.taken += 2
            if item[0] & BUBBLE_FLAG or block.words == NULL:
                continue
            code = self.cycles.records.parts[item[0]].code
            begin, end = <uint32_t>(code >> 32 & 0xFF), <uint32_t>(code >> 40 & 0xFF)
            if begin <= end and code & 0xFFFFFFFFULL == block.words[0] & BLOCK_MASK:
                self.covered = end + 1
                if end >= instruction:
                    return

    cdef void collect_captures(self, const ObservedBlock* block, uint32_t instruction) noexcept nogil:
        """Applies captures of instructions up to this one to the registers, and counts them."""
        cdef const Captured* one
        while self.captures.applied < self.captures.count:
            one = &self.captures.captured[self.captures.applied]
            if one.instruction + (1 if one.detail & BEHIND else 0) > instruction:
                return
            self.captures.applied += 1
            if self.frozen or one.instruction < self.from_instruction:
                continue
            self.captures.apply(one)
            if block.words != NULL and one.occurrence != NOTHING_HAPPENED:
                if self.take_item(block.items + one.item, block.node_item_count + one.item):
                    self.slide(block, 0, 0, min(instruction, self.table.c.heads[self.last].length - 1) + 1)

    cdef uint32_t take_item(self, const uint32_t* item, uint32_t place) noexcept nogil:
        """Counts one machine record, one time after the other. Returns how often, when that makes an interrupt pending,
        else 0."""
        cdef int64_t sums[MAX_MONITORS]
        cdef uint32_t single[2]
        cdef uint32_t times, first = self.from_time if place == self.from_item else 0
        cdef uint64_t cycles
        single[0], single[1] = item[0], 1
        cycles = self.cycles_of(single)
        if place < self.from_item:
            self.time += cycles * item[1]
            return 0
        self.time += cycles * first
        for times in range(first, item[1]):
            self.time += cycles
            if self.captures is not None and self.captures.traces_addresses and not self.frozen:
                self.trace_item(single)
            memset(sums, 0, self.monitors * sizeof(int64_t))
            self.add_item(single, sums)
            if not self.fits(sums) and self.captures is not None:
                self.captures.kept = False       # the registers have been read: no restore
            if self.step(sums, self.place_of(item[0])):
                return times + 1
        return 0
