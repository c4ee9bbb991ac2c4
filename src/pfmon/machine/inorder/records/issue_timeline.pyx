"""The timeline of hot blocks on an in-order core: the records of some of their executions, one after the other.

Every cycle of the core is a record: the instructions that issued in it, or the instruction that stalled, with the cause (records.pyx).
A capture begins with an execution of a block and ends when that block has run so many times. Which blocks are captured, and when, is as
on an out-of-order core (outoforder/block_history.pxd).
"""

cimport cython
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from pfmon.stream._stream cimport BLOCK_MASK, BlockHead

cdef enum:
    INITIAL_HISTORIES = 1 << 10


@cython.final
cdef class IssueTimeline(RecordObserver):
    """``ranges``: (first address, the one behind) of code of which blocks are captured; none: of all. ``iterations``, ``rows``: a
    capture ends when it has so many executions of its block, or instructions; ``captures``: those kept at most; ``following``: an
    observer that sees all records, too."""

    def __cinit__(self, BlockTable table, Records records, ranges=(), uint32_t iterations=4, uint32_t rows=1024,
                  uint32_t captures=MAX_CAPTURES, RecordObserver following=None):
        cdef uint32_t i = 0
        self.table, self.records, self.following = table, records, following
        self.iterations, self.rows = max(iterations, 1), rows
        self.capacity = min(max(captures, 1), MAX_CAPTURES)
        ordered = list(ranges)
        if ordered:
            self.ranges = <uint64_t*>malloc(2 * len(ordered) * sizeof(uint64_t))
            if self.ranges == NULL:
                raise MemoryError
        for first, beyond in ordered:
            self.ranges[2 * i], self.ranges[2 * i + 1] = first, beyond
            i += 1
        self.range_count = i

    def __dealloc__(self):
        cdef uint64_t bank, i
        for bank in range(BANKS):
            for i in range(self.known[bank]):
                free(self.histories[bank][i])
            free(self.histories[bank])
        for i in range(self.count):
            free(self.captures[i])
        free(self.spare)
        free(self.ranges)

    # --- while blocks run

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        if self.following is not None:
            self.following.use_event_set(event_set)

    cdef void on_block(self, const ObservedBlock* block) noexcept nogil:
        cdef BlockHistory* history
        cdef uint64_t number
        if self.following is not None:
            self.following.on_block(block)
        if block.words != NULL:
            number = block.words[0] & BLOCK_MASK
            history = self.history_of(number)
            if history == NULL:
                self.lost, self.open = True, NULL
                return
            history.runs += 1
            history.time += block.now - self.now
            if self.open != NULL:
                self.go_on(number, block)
            if history.wanted and history.runs >= history.due:
                if self.open != NULL and gives_up(self.opened, self.open.iterations, self.open.rows):
                    self.end_capture(False)
                if self.open == NULL:
                    self.begin_capture(number, history)
            if self.open != NULL:
                self.open.run[self.open.runs].block = <uint32_t>number
                self.open.run[self.open.runs].first_item = self.open.items
                self.open.run[self.open.runs].before = self.now
                self.open.rows += self.table.c.heads[number].length
                self.open.runs += 1
        if self.open != NULL:
            self.put_items(block.node_items, block.node_item_count)
            self.put_items(block.items, block.item_count)
        if self.open != NULL:
            self.open.run[self.open.runs - 1].after = block.now
        self.now = block.now

    cdef BlockHistory* history_of(self, uint64_t number) noexcept nogil:
        """Returns the history of a block; NULL: there is no memory."""
        cdef uint64_t bank = number >> BANK_SHIFT, index = number & BANK_MASK
        if index < self.known[bank] and self.histories[bank][index] != NULL:
            return self.histories[bank][index]
        return self.remember(number)

    cdef BlockHistory* remember(self, uint64_t number) noexcept nogil:
        """Begins the history of a block; NULL: there is no memory."""
        cdef uint64_t bank = number >> BANK_SHIFT, index = number & BANK_MASK, capacity = self.known[bank]
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef BlockHistory* history
        cdef BlockHistory** more
        if index >= capacity:
            capacity = max(<uint64_t>INITIAL_HISTORIES, 2 * (index + 1))
            more = <BlockHistory**>realloc(self.histories[bank], capacity * sizeof(void*))
            if more == NULL:
                return NULL
            memset(more + self.known[bank], 0, (capacity - self.known[bank]) * sizeof(void*))
            self.histories[bank], self.known[bank] = more, capacity
        history = <BlockHistory*>calloc(1, sizeof(BlockHistory))
        if history != NULL:
            history.due = 1
            history.wanted = overlaps(self.ranges, self.range_count, head.ip,
                                      self.table.c.instructions[head.first + head.length - 1].address)
        self.histories[bank][index] = history
        return history

    cdef void go_on(self, uint64_t number, const ObservedBlock* block) noexcept nogil:
        """Ends the capture before a block if it has enough, or no room for it."""
        cdef IssueCapture* open = self.open
        cdef bint again = number == open.block
        if again and (open.iterations == self.iterations or open.rows >= self.rows):
            self.end_capture(True)
        elif open.runs == ISSUE_RUNS or open.items + block.node_item_count + block.item_count > ISSUE_ITEMS:
            self.end_capture(False)
        elif again:
            open.iterations += 1

    cdef void begin_capture(self, uint64_t number, BlockHistory* history) noexcept nogil:
        """Begins a capture with a block, if there is a place for it."""
        if find_place(self.kept, &self.count, self.capacity, history) < 0:
            return
        if self.spare == NULL:
            self.spare = <IssueCapture*>malloc(sizeof(IssueCapture))
            if self.spare == NULL:
                self.lost = True
                return
        self.open, self.opened = self.spare, history
        self.open.block, self.open.execution = <uint32_t>number, history.runs
        self.open.runs = self.open.items = self.open.rows = self.open.whole = 0
        self.open.iterations = 1

    cdef void end_capture(self, bint whole) noexcept nogil:
        """Ends the capture, which takes its place unless there is a better one of its block."""
        cdef IssueCapture** place = &self.captures[self.opened.place - 1]
        cdef IssueCapture* one = self.open
        one.whole, self.open = whole, NULL
        if whole or one.iterations > 1:
            self.opened.gave_up = False
        if place[0] == NULL or is_better(place[0].block == one.block, one.iterations, whole, place[0].iterations, place[0].whole):
            self.spare, place[0] = place[0], one

    cdef void put_items(self, const uint32_t* items, uint32_t count) noexcept nogil:
        """Keeps records; if there is no room the capture ends before their block."""
        if self.open.items + count > ISSUE_ITEMS:
            self.open.runs -= 1
            self.end_capture(False)
            return
        if count:
            memcpy(self.open.item + self.open.items, items, count * sizeof(uint32_t))
        self.open.items += count

    # --- when the stream has ended

    def captured(self):
        """Return the captures, those of the blocks with most cycles first: number of the block, its executions, its cycles, the
        execution with which the capture begins, whether its last iteration is whole, and runs: number of the block, cycles recorded
        before and after it, and its records in order. Each is the instructions that issued in a cycle, as (block or None, first one, last
        one, bits of the executed ones), and nothing; or none, and a stall: block or None, instruction, Cause, cycles. MemoryError:
        something could not be kept."""
        cdef IssueCapture* one
        cdef uint32_t i, k, end
        if self.lost:
            raise MemoryError
        if self.open != NULL:
            self.end_capture(False)
        found = []
        for i in range(self.count):
            one = self.captures[i]
            if one == NULL:
                continue
            runs = []
            for k in range(one.runs):
                end = one.run[k + 1].first_item if k + 1 < one.runs else one.items
                runs.append((one.run[k].block, one.run[k].before, one.run[k].after,
                             self.items_between(one.run[k].first_item, end, i)))
            if runs:
                found.append((one.block, self.kept[i].runs, self.kept[i].time, one.execution, bool(one.whole), runs))
        return sorted(found, key=lambda capture: (-capture[2], capture[0]))

    cdef list items_between(self, uint32_t first, uint32_t end, uint32_t place):
        """Return records of a capture."""
        cdef const uint32_t* item = self.captures[place].item
        cdef uint64_t key
        cdef uint32_t i
        found = []
        for i in range(first, end, 2):
            if item[i] & BUBBLE_FLAG:
                key = self.records.bubble_keys[item[i] & ~<uint32_t>BUBBLE_FLAG]
                if <int>(key >> 48) == BUBBLE_BACK:
                    block = key & 0xFFFFFFFF
                    found.append(((), (None if block == NO_BLOCK else block, key >> 32 & 0xFF, key >> 40 & 0xFF, item[i + 1])))
            elif is_cycle(&self.records.parts[item[i]]):
                found += [(self.chain_of(item[i]), None)] * item[i + 1]
        return found

    cdef object chain_of(self, uint32_t number):
        """Return the instructions that issued in a cycle, in order."""
        chain = []
        while number:
            chain.append(self.records.part_tuple(number)[:4])
            number = <uint32_t>(self.records.parts[number].chain & 0xFFFFFFFF)
        return tuple(reversed(chain))
