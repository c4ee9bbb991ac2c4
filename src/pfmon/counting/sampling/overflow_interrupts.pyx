"""Interrupts of counter overflows: taken at once, or after a skid of some cycles, in which the program runs and no
counter counts. During the skid the IP-EAR (capture_units.pyx) gets the machine's records.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._machine cimport BRU, BUBBLE_BACK, BUBBLE_FLAG, KERNEL, THREAD_SWITCH, XPN
from pfmon.stream._stream cimport BLOCK_MASK, BlockHead


cdef class OverflowInterrupts(BlockIncrements):
    """The counters and their overflows. Live (live_counting.pyx) reads the stream and sets all."""

    cdef bint fits(self, const int64_t* sums) noexcept nogil:
        """Whether no counter wraps."""
        cdef uint32_t m
        for m in range(self.monitors):
            if sums[m] >= self.left[m] and not (self.off >> m) & 1:
                return False
        return True

    cdef void commit(self, const int64_t* sums) noexcept nogil:
        cdef uint32_t m
        if self.off:
            for m in range(self.monitors):
                if not (self.off >> m) & 1:
                    self.counted[m] += sums[m]
                    self.left[m] -= sums[m]
            return
        for m in range(self.monitors):
            self.counted[m] += sums[m]
            self.left[m] -= sums[m]

    cdef bint step(self, const int64_t* sums, uint64_t address) noexcept nogil:
        """Adds the increments of one instruction or cycle; counters that overflow by it do so together. Returns whether
        that makes an interrupt pending."""
        cdef uint64_t wrapped = 0
        cdef uint32_t m
        if self.frozen:
            return False
        for m in range(self.monitors):
            if sums[m] >= self.left[m] and not (self.off >> m) & 1:
                wrapped |= <uint64_t>1 << m
        self.commit(sums)
        if wrapped & (self.trigger | self.until):
            if wrapped & self.trigger:
                self.triggered = True
            else:
                self.stopped = True
            wrapped &= ~(self.trigger | self.until)
            if not self.within:
                self.set_off()
        if wrapped and not self.skid:
            self.call(wrapped, address, self.retired)
        elif wrapped:
            self.waiting, self.due = wrapped, self.skid
            self.tracing = self.captures.delay if self.captures is not None else 0
            self.sliding = self.frozen = True
            return True
        return False

    cdef void set_off(self) noexcept nogil:
        """Computes the monitors that are off. Before the trigger fires: all except the trigger; afterwards: the trigger
        and the monitors that wait for others; after the stopping event: all."""
        self.off = self.waiting_for_others
        if self.stopped:
            self.off = ~<uint64_t>0
        elif self.trigger:
            self.off = self.off | self.trigger if self.triggered else ~self.trigger

    cdef void call(self, uint64_t wrapped, uint64_t address, uint64_t retired) noexcept nogil:
        """Takes the interrupt."""
        cdef uint32_t m
        self.stamp = retired if self.cycles is None else self.time + self.ahead
        if self.sampler is not None:
            self.frozen = not self.sampler.overflow(wrapped, address, self.stamp, retired, self.counted, self.left)
            return
        with gil:
            try:
                self.on_overflow([m for m in range(self.monitors) if wrapped >> m & 1], address, retired)
            except BaseException as error:   # raised again when the run has ended
                self.error, self.frozen = error, True

    cdef uint64_t cycles_of(self, const uint32_t* item) noexcept nogil:
        """Returns the core cycles of a record: those in which something issued, and back-end bubbles."""
        cdef uint64_t code
        if item[0] & BUBBLE_FLAG:
            code = self.cycles.records.bubble_keys[item[0] & ~<uint32_t>BUBBLE_FLAG]
            return item[1] if code >> 48 == BUBBLE_BACK else 0
        code = self.cycles.records.parts[item[0]].code
        return item[1] if (code >> 32 & 0xFF) <= (code >> 40 & 0xFF) else 0

    cdef uint64_t time_at(self, const ObservedBlock* block, uint32_t place, uint32_t times) noexcept nogil:
        """Returns the cycles of the records before index ``place`` (the memo's records first), plus ``times`` times
        those of the record at that index."""
        cdef uint64_t time = block.now
        cdef uint32_t k
        cdef uint32_t one[2]
        cdef const uint32_t* item
        for k in range(place, block.node_item_count + block.item_count, 2):
            item = block.node_items + k if k < block.node_item_count else block.items + k - block.node_item_count
            time -= self.cycles_of(item)
            if k == place and times:
                one[0], one[1] = item[0], times
                time += self.cycles_of(one)
        return time

    cdef uint64_t place_of(self, uint32_t item) noexcept nogil:
        """Returns the address of a record's last instruction, 0: none."""
        cdef uint64_t code
        cdef uint32_t instruction
        cdef const BlockHead* head
        if item & BUBBLE_FLAG:
            code = self.cycles.records.bubble_keys[item & ~<uint32_t>BUBBLE_FLAG]
            instruction = <uint32_t>(code >> 32 & 0xFF)
        else:
            code = self.cycles.records.parts[item].code
            instruction = <uint32_t>(code >> 40 & 0xFF)
            if instruction < <uint32_t>(code >> 32 & 0xFF):      # a part without instructions (unattributed_events.pxd)
                instruction = <uint32_t>(code >> 48 & 0xFF)
        if code & 0xFFFFFFFFULL == NO_BLOCK:
            return 0
        head = &self.table.c.heads[code & 0xFFFFFFFFULL]
        return self.table.c.instructions[head.first + min(instruction, head.length - 1)].address

    # --- from an overflow to its interrupt

    cdef void slide(self, const ObservedBlock* block, uint32_t first, uint32_t used, uint32_t behind) noexcept nogil:
        """Passes cycles until the interrupt is taken: at the next bundle that begins after the issued ones. Begins with
        the record at index ``first`` (the memo's records first), of which ``used`` cycles have passed, and after
        the cycle in which the instruction before ``behind`` issued, if that is not 0."""
        cdef uint64_t number = block.words[0] & BLOCK_MASK if block.words != NULL else NO_BLOCK
        cdef uint32_t issued = behind, nodes = block.node_item_count
        if behind:
            self.issuing = True
        if not self.arrived:
            self.arrived = (self.slide_along(block.node_items, nodes, 0, first, used, behind, number, &issued)
                            or self.slide_along(block.items, block.item_count, nodes, first - min(first, nodes),
                                                used if first >= nodes else 0, behind, number, &issued))
        if self.arrived and block.words != NULL and self.interrupt(block, issued):
            self.arrived = self.sliding = False
            self.resumed = True

    cdef bint slide_along(self, const uint32_t* items, uint32_t count, uint32_t base, uint32_t first, uint32_t used,
                          uint32_t behind, uint64_t block, uint32_t* issued) noexcept nogil:
        """Whether the interrupt is taken in these records, and how many instructions have issued by then."""
        cdef uint32_t k, begin, beyond, cycles
        cdef uint32_t left[2]
        cdef uint64_t code
        for k in range(0, count, 2):
            cycles = 0 if k < first else items[k + 1] - (used if k == first else 0)
            if items[k] & BUBBLE_FLAG:
                code = self.cycles.records.bubble_keys[items[k] & ~<uint32_t>BUBBLE_FLAG]
                if code >> 48 != BUBBLE_BACK or (code >> 40 & 0xFF) == KERNEL or self.issuing:
                    continue
            else:
                code = self.cycles.records.parts[items[k]].code
                begin, beyond = <uint32_t>(code >> 32 & 0xFF), <uint32_t>(code >> 40 & 0xFF) + 1
                if beyond <= begin:                              # a part without instructions: no cycle
                    continue
                if code & 0xFFFFFFFFULL == block:
                    issued[0] = max(issued[0], beyond)
                if self.issuing:                                 # up to the cycle of the overflow
                    if behind and (code & 0xFFFFFFFFULL != block or beyond < behind):
                        continue
                    self.issuing = False
                    if not behind and self.tracing > 0 and self.captures.traces_addresses:
                        self.trace_item(items + k)
                    continue
            if cycles == 0:
                continue
            left[0], left[1] = items[k], cycles
            if self.tracing > 0 and self.captures.traces_addresses:
                if self.is_switch(left):
                    self.captures.switch_away(self.tracing)
                    self.tracing = 0
                else:
                    self.tracing -= cycles
                    self.trace_item(left)
            self.due -= cycles
            if self.due <= 0:                                    # the rest of it counts again
                self.from_item, self.from_time = base + k, <uint32_t>(items[k + 1] + self.due)
                return True
        return False

    cdef bint interrupt(self, const ObservedBlock* block, uint32_t instruction) noexcept nogil:
        """Takes the interrupt at the first bundle from an instruction of the block on; False: it has none."""
        cdef const BlockHead* head = &self.table.c.heads[block.words[0] & BLOCK_MASK]
        cdef uint64_t address
        for instruction in range(instruction, head.length):
            address = self.table.c.instructions[head.first + instruction].address
            if address & 3 == 0:
                self.from_instruction = instruction
                if self.cycles is not None:
                    self.time, self.ahead = self.time_at(block, self.from_item, self.from_time), 0
                self.call(self.waiting, address, self.begun + instruction)
                return True
        return False

    # --- the IP-EAR

    cdef void disable(self) noexcept nogil:
        """Disables monitoring after the last block: the IP-EAR freezes early, within a delay or not."""
        cdef const BlockHead* head
        if self.captures is None or not self.captures.traces_addresses or self.last == NO_BLOCK:
            return
        if self.sliding and self.tracing <= 0:       # already frozen
            return
        head = &self.table.c.heads[self.last]
        self.captures.freeze_early(self.table.c.instructions[head.first + head.length - 1].address,
                                   self.tracing if self.sliding else self.captures.delay)
        self.tracing = 0

    cdef void trace_until(self, const ObservedBlock* block, uint32_t behind) noexcept nogil:
        """Feeds the IP-EAR, after `restore_trace`, the records up to the cycle in which the instruction before
        ``behind`` issued: it may overflow."""
        cdef uint32_t total = block.node_item_count + block.item_count
        cdef const uint32_t* item
        cdef uint64_t code
        if not self.captures.again or self.frozen or self.resumed:
            return
        while self.shown < total and self.issued < behind:
            if self.shown < block.node_item_count:
                item = block.node_items + self.shown
            else:
                item = block.items + self.shown - block.node_item_count
            self.shown += 2
            self.trace_item(item)
            if item[0] & BUBBLE_FLAG == 0:
                code = self.cycles.records.parts[item[0]].code
                if code & 0xFFFFFFFFULL == block.words[0] & BLOCK_MASK and (code >> 40 & 0xFF) >= (code >> 32 & 0xFF):
                    self.issued = <uint32_t>(code >> 40 & 0xFF) + 1

    cdef void trace_items(self, const uint32_t* items, uint32_t count) noexcept nogil:
        cdef uint32_t k
        for k in range(0, count, 2):
            self.trace_item(items + k)

    cdef bint is_switch(self, const uint32_t* item) noexcept nogil:
        """Whether a record is of the cycles of a switch back to this thread."""
        cdef uint64_t code
        if not item[0] & BUBBLE_FLAG:
            return False
        code = self.cycles.records.bubble_keys[item[0] & ~<uint32_t>BUBBLE_FLAG]
        return code >> 48 == BUBBLE_BACK and (code >> 40 & 0xFF) == THREAD_SWITCH

    cdef void trace_item(self, const uint32_t* item) noexcept nogil:
        """Feeds the IP-EAR one machine record: cycles in which nothing retired, or one in which something did."""
        cdef uint64_t code
        cdef uint32_t part, cause, times
        cdef const BlockHead* head
        if item[0] & BUBBLE_FLAG:
            code = self.cycles.records.bubble_keys[item[0] & ~<uint32_t>BUBBLE_FLAG]
            cause = <uint32_t>(code >> 40 & 0xFF)
            if code >> 48 == BUBBLE_BACK and cause != KERNEL:
                if cause == THREAD_SWITCH:
                    self.captures.switch_away(self.captures.delay)
                self.captures.pass_cycles(item[1], cause == XPN or cause == BRU)
            return
        part = item[0]
        while self.cycles.records.parts[part].chain & 0xFFFFFFFFULL:
            part = <uint32_t>self.cycles.records.parts[part].chain
        code = self.cycles.records.parts[part].code
        if (code >> 40 & 0xFF) < (code >> 32 & 0xFF) or code & 0xFFFFFFFFULL == NO_BLOCK:
            return
        if not self.captures.is_traced(code & 0xFFFFFFFFULL):        # the PSR has disabled it
            if self.captures.latest:
                self.captures.switch_away(self.captures.delay)
            return
        head = &self.table.c.heads[code & 0xFFFFFFFFULL]
        for times in range(item[1]):
            self.captures.retire(self.table.c.instructions[head.first + (code >> 32 & 0xFF)].address)
