"""Splits the stream exactly before or after a given instruction.

Triggers, switches of event sets and intervals are conditions of the reader: the stream (and a recording) does not
depend on them. Whole blocks are passed on unchanged. A split block is passed on in parts: blocks in the table's second
bank, with their conditions, addresses and marks.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset


cdef enum:
    UNKNOWN = 0
    WITHOUT = 1
    WITH = 2
    PARTS_BANK = 1
    CONDITION_BITS = 31

cdef uint64_t NOWHERE = ~<uint64_t>0


cdef class Splitter(Consumer):
    """``code``: addresses of code; one is reached when the instruction there is the next to retire. ``data``: (address,
    by reads, by writes) each; one is reached when the next instruction to retire accesses that byte. Triggers are
    numbered in this order. A subclass overrides `pass_on`, `reach`, `reach_due`, `reach_return`, `ends_part`,
    `handle_mark`."""

    def __cinit__(self, BlockTable table, *_, bint traced, code=(), data=(), **__):
        cdef uint32_t place
        if len(code) + len(data) > MAX_TRIGGERS:
            raise ValueError(f"{len(code) + len(data)} triggers: there is room for {MAX_TRIGGERS}")
        if data and not traced:
            raise ValueError("data triggers need the addresses of accesses in the stream")
        self.table, self.traced = table, traced
        self.due, self.returns_to = ~<uint64_t>0, NOWHERE
        self.last = BLOCK_MASK           # none
        self.code_count, self.data_count = len(code), len(data)
        for place, address in enumerate(code):
            self.code[place] = address
        for place, (address, reads, writes) in enumerate(data):
            self.data[place] = WatchedAddress(address, reads, writes, self.code_count + place)

    def set_triggers(self, code, data):
        """Replaces the addresses of the triggers; their number stays. Blocks already examined are not examined again: a
        trigger without an address so far cannot have been reached."""
        cdef uint32_t place
        if len(code) != self.code_count or len(data) != self.data_count:
            raise ValueError("triggers neither come nor go")
        for place, address in enumerate(code):
            self.code[place] = address
        for place, address in enumerate(data):
            self.data[place].address = address

    def __dealloc__(self):
        cdef uint32_t bank
        for bank in range(BANKS):
            free(self.watched[bank])
        free(self.parts)
        free(self.part_numbers)

    # --- hooks of a subclass

    cdef void pass_on(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Receives a part of the stream: whole blocks, or parts of them, with their addresses and marks."""
        pass

    cdef void reach(self, uint32_t trigger) noexcept nogil:
        """Called when a trigger is reached: before the instruction at ``next_address``."""
        pass

    cdef void reach_due(self) noexcept nogil:
        """Called when ``due`` instructions have retired; sets ``due`` again."""
        self.due = ~<uint64_t>0

    cdef void reach_return(self) noexcept nogil:
        """Called when a block begins at `returns_to`; everything before it has been passed on."""
        pass

    cdef bint ends_part(self, uint64_t mark) noexcept nogil:
        """Whether a part ends after a mark."""
        return False

    cdef void handle_mark(self, uint64_t mark) noexcept nogil:
        """Called when the part that a mark ends has been passed on."""
        pass

    # --- the stream

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, first = 0, word, k
        cdef const BlockHead* head
        cdef RanBlock ran
        while i < count:
            word = words[i]
            if word >> 63:
                i += 1
                if self.ends_part(word):
                    self.pass_on(words + first, i - first)
                    first = i
                    self.handle_mark(word)
                continue
            head = &self.table.c.heads[word & BLOCK_MASK]
            if head.ip == self.returns_to:
                self.pass_on(words + first, i - first)
                first = i
                self.reach_return()
            self.last = word & BLOCK_MASK
            if self.retired + head.length <= self.due and not self.has_trigger(self.last):
                self.retired += head.length
                i += 1 + (accesses_of(head, word) if self.traced else 0)
                continue
            self.pass_on(words + first, i - first)
            ran.word = word
            ran.addresses = words + i + 1
            i += 1 + (accesses_of(head, word) if self.traced else 0)
            ran.marks = words + i
            while i < count and words[i] >> 63 and belongs(words[i]):
                i += 1
            ran.mark_count = words + i - ran.marks
            first = i
            self.split(&ran)
            for k in range(ran.mark_count):
                if self.ends_part(ran.marks[k]):
                    self.handle_mark(ran.marks[k])
        self.pass_on(words + first, count - first)

    cdef void follow(self, uint64_t block) noexcept nogil:
        self.last = block

    cdef bint has_trigger(self, uint64_t number) noexcept nogil:
        """Whether a trigger may be reached in a block."""
        cdef uint32_t bank = <uint32_t>(number >> BANK_SHIFT)
        cdef uint64_t place = number & BANK_MASK, capacity
        cdef unsigned char* fresh
        if self.code_count == 0 and self.data_count == 0:
            return False
        if place >= self.known[bank]:
            capacity = self.table.c.header.bank[bank].blocks * 2
            fresh = <unsigned char*>realloc(self.watched[bank], capacity)
            if fresh == NULL:
                self.fail(Failure.OUT_OF_MEMORY)
                return False
            memset(fresh + self.known[bank], UNKNOWN, capacity - self.known[bank])
            self.watched[bank], self.known[bank] = fresh, capacity
        if self.watched[bank][place] == UNKNOWN:
            self.watched[bank][place] = WITH if self.examine_block(number) else WITHOUT
        return self.watched[bank][place] == WITH

    cdef bint examine_block(self, uint64_t number) noexcept nogil:
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef uint32_t i, k
        if self.data_count and (head.accesses or head.access_mask):
            return True
        for i in range(head.length):
            for k in range(self.code_count):
                if self.table.c.instructions[head.first + i].address == self.code[k]:
                    return True
        return False

    # --- a block that may be split

    cdef void split(self, const RanBlock* ran) noexcept nogil:
        """Passes a block on in parts, each up to the next trigger or time."""
        cdef const BlockHead* head = &self.table.c.heads[ran.word & BLOCK_MASK]
        cdef const BlockInstruction* instruction
        cdef uint32_t i, k, start = 0
        cdef uint64_t access = 0, began = self.retired
        cdef bint here
        for i in range(head.length):
            instruction = &self.table.c.instructions[head.first + i]
            here = began + i == self.due
            for k in range(self.code_count):
                here |= instruction.address == self.code[k]
            if instruction.access and executed(ran.word, instruction.condition):
                for k in range(self.data_count):
                    here |= self.touched(ran, head, i, access, k)
            if here:
                if i > start:
                    self.pass_part(ran, start, i)
                start = i
                self.retired = began + i
                self.stop_before(ran, head, i, access)
            if executed(ran.word, instruction.condition):
                access += address_count(instruction)
        self.retired = began + head.length
        self.pass_part(ran, start, head.length)

    cdef void stop_before(self, const RanBlock* ran, const BlockHead* head, uint32_t i, uint64_t access) noexcept nogil:
        """Calls the hooks for all that is reached before an instruction; ``access``: the index of its first access in
        the block, if it has one."""
        cdef const BlockInstruction* instruction = &self.table.c.instructions[head.first + i]
        cdef uint32_t k
        self.next_address = instruction.address
        if self.retired == self.due:
            self.reach_due()
        for k in range(self.code_count):
            if instruction.address == self.code[k]:
                self.reach(k)
        if instruction.access and executed(ran.word, instruction.condition):
            for k in range(self.data_count):
                if self.touched(ran, head, i, access, k):
                    self.reach(self.data[k].number)

    cdef bint touched(self, const RanBlock* ran, const BlockHead* head, uint32_t i, uint64_t access,
                      uint32_t trigger) noexcept nogil:
        """Whether an instruction's accesses, from access ``access`` of the block on, read or write the byte of a data
        trigger."""
        cdef const BlockInstruction* instruction = &self.table.c.instructions[head.first + i]
        cdef uint8_t kind = instruction.access
        cdef uint32_t k
        for k in range(address_count(instruction)):
            if self.mem_accesses(ran, instruction, i, kind, ran.addresses[access + k], trigger):
                return True
            kind = further_kind(instruction)
        return False

    cdef bint mem_accesses(self, const RanBlock* ran, const BlockInstruction* instruction, uint32_t i, uint8_t kind,
                      uint64_t address, uint32_t trigger) noexcept nogil:
        """Whether an access of an instruction reads or writes the byte of a data trigger. A check load that hits the
        ALAT and a speculative load from a NaT address access nothing; a repeated string instruction accesses all bytes
        up to those of its last iteration."""
        cdef const WatchedAddress* watched = &self.data[trigger]
        cdef uint64_t k, mark, size = instruction.size
        cdef bint missed = False
        if address == 0 or not (kind & AccessKind.READ and watched.reads or
                                kind & AccessKind.WRITE and watched.writes) or kind == AccessKind.FETCH_LINE:
            return False
        for k in range(ran.mark_count):
            if mark_kind(ran.marks[k]) == Mark.STRING and mark_instruction(ran.marks[k]) == i:
                size += mark_value(ran.marks[k])
        if watched.address - address >= size:
            return False
        for k in range(ran.mark_count):
            mark = ran.marks[k]
            if mark_kind(mark) == Mark.ALAT_MISS and mark_instruction(mark) == i:
                missed = True
            if mark_kind(mark) == Mark.DEFERRED and mark_instruction(mark) == i \
                    and mark_value(mark) == Deferral.NO_ADDRESS:
                return False
        return missed or not instruction.isa_kind & Ia64Kind.LOAD_CHECK

    cdef void pass_part(self, const RanBlock* ran, uint32_t start, uint32_t end) noexcept nogil:
        """Passes on the instructions of a block from ``start`` to before ``end``, as a block of their own."""
        cdef uint64_t number = ran.word & BLOCK_MASK, k, count, mark, index
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef const BlockInstruction* instruction
        cdef uint32_t i, conditions_before = 0, conditions = 0, before = 0, accesses = 0, part
        cdef bint taken = False
        for i in range(end):
            instruction = &self.table.c.instructions[head.first + i]
            if instruction.condition != ALWAYS:
                conditions_before += i < start
                conditions += i >= start
            if self.traced and executed(ran.word, instruction.condition):
                before += address_count(instruction) if i < start else 0
                accesses += address_count(instruction) if i >= start else 0
        part = <uint32_t>number if start == 0 and end == head.length else self.part_of(number, start, end)
        if part == BLOCK_MASK:
            return
        self.buffer[0] = part | (ran.word >> (32 + conditions_before) & ((<uint64_t>1 << conditions) - 1)) << 32
        memcpy(self.buffer + 1, ran.addresses + before, accesses * sizeof(uint64_t))
        count = 1 + accesses
        for k in range(ran.mark_count):
            mark = ran.marks[k]
            if mark_kind(mark) == Mark.PAGE_ADDRESS or mark_kind(mark) == Mark.PAGE_FRAME:
                pass                                 # frames hold for all parts
            elif not names_instruction(mark):        # it belongs to the mark before it
                if not taken:
                    continue
            else:
                index = mark_instruction(mark)
                taken = start <= index < end or (index >= head.length and end == head.length)
                if not taken:
                    continue
                if not is_outside(mark):
                    mark -= <uint64_t>start << INDEX_SHIFT
            if count == MAX_PART_WORDS:
                self.fail(Failure.TOO_MANY_MARKS)
                break
            self.buffer[count] = mark
            count += 1
        self.last = part
        self.pass_on(self.buffer, count)

    cdef uint32_t part_of(self, uint64_t number, uint32_t start, uint32_t end) noexcept nogil:
        """Returns the block in the second bank for a part of a block; BLOCK_MASK: it could not be made."""
        cdef uint64_t key = <uint64_t>1 << 63 | number << 16 | start << 8 | end, at
        cdef Table* table = &self.table.c
        cdef const BlockHead* head = &table.heads[number]
        cdef BlockHead* made
        cdef uint64_t first
        cdef uint32_t i, conditions = 0, bytes = table.header.payload_bytes, cut
        if self.part_count * 2 >= self.part_capacity and not self.grow_parts():
            return BLOCK_MASK
        at = key * <uint64_t>0x9E3779B97F4A7C15 >> 20 & (self.part_capacity - 1)
        while self.parts[at]:
            if self.parts[at] == key:
                return self.part_numbers[at]
            at = (at + 1) & (self.part_capacity - 1)
        if not make_room(table, PARTS_BANK, end - start):
            self.fail(<Failure>table.header.failure)
            return BLOCK_MASK
        first = fresh_instruction(table, PARTS_BANK)
        memcpy(table.instructions + first, table.instructions + head.first + start,
               (end - start) * sizeof(BlockInstruction))
        memcpy(table.payloads + first * bytes, table.payloads + (head.first + start) * bytes, (end - start) * bytes)
        for i in range(end - start):
            if table.instructions[first + i].condition != ALWAYS:
                table.instructions[first + i].condition = <uint8_t>conditions
                conditions += 1
        cut = head.cut if end == head.length else Cut.PART
        self.parts[at] = key
        self.part_numbers[at] = enter_block(table, PARTS_BANK, table.instructions[first].address, end - start, cut,
                                            head.file)
        made = &table.heads[self.part_numbers[at]]
        made.whole, made.offset = <uint32_t>number, start
        if head.physical:                # they differ in place, not in page
            made.physical = head.physical + ((made.ip & ~<uint64_t>15) - (head.ip & ~<uint64_t>15))
        self.part_count += 1
        return self.part_numbers[at]

    cdef bint grow_parts(self) noexcept nogil:
        cdef uint64_t capacity = self.part_capacity * 2 if self.part_capacity else 256, i, at
        cdef uint64_t* parts = <uint64_t*>calloc(capacity, sizeof(uint64_t))
        cdef uint32_t* numbers = <uint32_t*>calloc(capacity, sizeof(uint32_t))
        if parts == NULL or numbers == NULL:
            free(parts)
            free(numbers)
            self.fail(Failure.OUT_OF_MEMORY)
            return False
        for i in range(self.part_capacity):
            if self.parts[i]:
                at = self.parts[i] * <uint64_t>0x9E3779B97F4A7C15 >> 20 & (capacity - 1)
                while parts[at]:
                    at = (at + 1) & (capacity - 1)
                parts[at], numbers[at] = self.parts[i], self.part_numbers[i]
        free(self.parts)
        free(self.part_numbers)
        self.parts, self.part_numbers, self.part_capacity = parts, numbers, capacity
        return True


cdef bint belongs(uint64_t mark) noexcept nogil:
    """Whether a mark belongs to the block before it; others stand alone."""
    return not names_instruction(mark) or not is_outside(mark)
