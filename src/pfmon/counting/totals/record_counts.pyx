"""Increments from the records of a machine (machine/inorder/records/records.pyx): one description for totals and for live counting.

A cycle in which something issued is a chain of parts, a lost one a bubble. The increment of each is computed here from
the kinds and terms of signals/machine.csv, which `queries.py` compiles.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from pfmon.machine._machine cimport BUBBLE_BACK, EVENT_INSTRUCTION_SHIFT, EVENT_RANGED_SHIFT, OCCURRENCE_BITS
from pfmon.stream._stream cimport BlockHead, BlockInstruction, Cut, Ia64Kind

cdef enum:
    OCCURRENCE_MASK = (1 << OCCURRENCE_BITS) - 1
    INSTRUCTION_MASK = 0xFF
    EXECUTED_BITS = 32           # Part.executed_dispersal has bits for so many instructions: whether they executed


cdef inline bint is_member(const uint64_t* members, uint64_t number) noexcept nogil:
    return (members[number >> 6] >> (number & 63)) & 1


cdef inline uint32_t block_of(const Part* part) noexcept nogil:
    return <uint32_t>(part.code & 0xFFFFFFFFULL)


cdef inline uint32_t first_of(const Part* part) noexcept nogil:
    return <uint32_t>(part.code >> 32 & INSTRUCTION_MASK)


cdef inline uint32_t last_of(const Part* part) noexcept nogil:
    return <uint32_t>(part.code >> 40 & INSTRUCTION_MASK)


cdef inline int64_t compile_query(const CompiledQuery* compiled, int64_t increment) noexcept nogil:
    """Converts a cycle's increment to a count: extracts bits, then applies the threshold (Montecito manual 3.2.1.3)."""
    cdef int64_t value = increment >> compiled.low & compiled.mask
    if compiled.most and value > compiled.most:
        value = compiled.most
    if compiled.threshold:
        return value > compiled.threshold
    return value


cdef inline void add_within(CountAccumulator sink, uint32_t monitor, uint32_t block, uint32_t instruction,
                            int64_t increment,
                            int64_t* excess, int64_t times) noexcept nogil:
    """Adds an instruction's share of a cycle's increment, up to the limit."""
    cdef int64_t lost = min(increment, excess[0])
    excess[0] -= lost
    add(sink, monitor, block, instruction, times * (increment - lost))


cdef class RecordCounts:
    """``queries``: each monitor's record query (record_query.RecordQuery); ``increments``: the same monitors' weights
    and filters."""

    def __cinit__(self, queries, Increments increments, BlockTable table, Records records, int stack_rate):
        cdef uint32_t number, k
        cdef CompiledQuery* one
        self.increments, self.table, self.records = increments, table, records
        self.stack_rate = stack_rate
        self.compiled = <CompiledQuery*>calloc(len(queries) + 1, sizeof(CompiledQuery))
        if self.compiled == NULL:
            raise MemoryError
        self.all_open = increments.all_open
        for number, given in enumerate(queries):
            one = &self.compiled[number]
            one.way, one.ranged = given.way, given.ranged
            one.weighs, one.occurs, one.moves = given.weighs, given.occurs, given.moves
            one.retiring, one.bubbles, one.causes = given.retiring, given.bubbles, given.causes
            one.threshold, one.low, one.mask, one.most = given.threshold, given.low, given.mask, given.most
            one.any_field, one.divided = given.any_field, given.divided
            one.fields = len(given.fields)
            for k, (shift, mask) in enumerate(given.fields):
                one.shift[k], one.field[k] = shift, mask
            for occurrence in given.occurrences:
                one.occurrences[occurrence >> 6] |= <uint64_t>1 << (occurrence & 63)
            for occurrence in given.checks:
                one.checks[occurrence >> 6] |= <uint64_t>1 << (occurrence & 63)

    def __dealloc__(self):
        free(self.compiled)

    cdef bint passes(self, uint32_t monitor, uint64_t block, uint32_t instruction) noexcept nogil:
        """Whether a monitor counts events of an instruction, or of none that retired."""
        if self.all_open:
            return True
        return (self.increments.passing_at(&self.table.c, block, instruction)
                >> self.increments.counted[monitor].filter) & 1

    cdef void add_bubble(self, uint32_t number, int64_t cycles, CountAccumulator sink) noexcept nogil:
        """Adds lost cycles or bundles."""
        cdef uint64_t key = self.records.bubble_keys[number]
        cdef uint32_t block = <uint32_t>(key & 0xFFFFFFFFULL), instruction = <uint32_t>(key >> 32 & 0xFF), m
        cdef uint64_t cause = key >> 40 & 0xFF
        cdef uint32_t kind = <uint32_t>(key >> 48)
        cdef const CompiledQuery* one
        for m in range(self.increments.monitors):
            one = &self.compiled[m]
            if (one.way == QueryKind.CYCLES and kind == BUBBLE_BACK
                    or one.way == QueryKind.BUBBLES and kind == one.bubbles) \
                    and (one.causes >> cause) & 1 and self.passes(m, block, instruction):
                add(sink, m, block, instruction, cycles)

    cdef void add_part(self, uint32_t number, int64_t times, CountAccumulator sink) noexcept nogil:
        """Adds cycles that ended with a part."""
        cdef const Part* last = &self.records.parts[number]
        cdef const Part* part = last
        cdef uint32_t m
        while number:
            part = &self.records.parts[number]
            if part.chain >> 32:
                self.add_occurrences(part, times, sink)
            number = <uint32_t>(part.chain & 0xFFFFFFFFULL)
        if first_of(last) <= last_of(last):
            self.add_cycle(last, times, sink)
        for m in range(self.increments.monitors):
            if self.compiled[m].way == QueryKind.SUMS:
                self.add_sum(m, last, times, sink)

    cdef void add_occurrences(self, const Part* part, int64_t times, CountAccumulator sink) noexcept nogil:
        """Adds occurrences, each at its instruction."""
        cdef const uint64_t* items = self.records.event_lists + self.records.event_starts[part.chain >> 32]
        cdef uint64_t k, item
        cdef uint32_t m, instruction
        cdef const CompiledQuery* one
        for k in range(1, items[0] + 1):
            item = items[k]
            instruction = <uint32_t>(item >> EVENT_INSTRUCTION_SHIFT & INSTRUCTION_MASK)
            for m in range(self.increments.monitors):
                one = &self.compiled[m]
                if one.way == QueryKind.OCCURRENCES and is_member(one.occurrences, item & OCCURRENCE_MASK) \
                        and (not one.ranged or (item >> EVENT_RANGED_SHIFT) & 1) and self.passes(m, block_of(part),
                                                                                                 instruction):
                    add(sink, m, block_of(part), instruction,
                        times * <int64_t>(item >> OCCURRENCE_BITS & OCCURRENCE_MASK))

    cdef void add_cycle(self, const Part* part, int64_t times, CountAccumulator sink) noexcept nogil:
        """Adds a cycle in which something issued, and its unused dispersal, at its last instruction."""
        cdef uint32_t m, k, left = <uint32_t>(part.executed_dispersal >> 32)
        cdef int64_t total
        cdef const CompiledQuery* one
        for m in range(self.increments.monitors):
            one = &self.compiled[m]
            total = 0
            if one.way == QueryKind.CYCLES:
                total = one.retiring
            for k in range(one.fields):
                total += left >> one.shift[k] & one.field[k]
            if one.fields:
                total = total > 0 if one.any_field else compile_query(one,
                    total) if one.way == QueryKind.DISPERSAL else total
            if total and self.passes(m, block_of(part), last_of(part)):
                add(sink, m, block_of(part), last_of(part), times * total)

    cdef void add_sum(self, uint32_t monitor, const Part* last, int64_t times, CountAccumulator sink) noexcept nogil:
        """Adds the sum over a cycle's instructions, after bits and threshold."""
        cdef const CompiledQuery* one = &self.compiled[monitor]
        cdef const Part* part = last
        cdef int64_t total = 0
        if one.moves and first_of(last) > last_of(last):
            self.add_moved(monitor, last, times, sink)
        while True:
            if one.weighs:
                total += self.part_increment(monitor, part, NULL, 0, None)
            if one.occurs:
                total += self.noted(monitor, part, NULL, 0, None)
            if part.chain & 0xFFFFFFFFULL == 0:
                break
            part = &self.records.parts[part.chain & 0xFFFFFFFFULL]
        if not one.divided:
            add(sink, monitor, block_of(last), last_of(last), times * compile_query(one, total))
        elif total:              # a part without instructions is no cycle, but holds unattributed events
            self.divide(monitor, last, max(0, total - one.most) if first_of(last) <= last_of(last) else 0, times, sink)

    cdef void divide(self, uint32_t monitor, const Part* last, int64_t excess, int64_t times,
                     CountAccumulator sink) noexcept nogil:
        """Adds a cycle's increments, each at its instruction; the excess of the last ones is lost."""
        cdef const CompiledQuery* one = &self.compiled[monitor]
        cdef const Part* part = last
        while True:
            if one.weighs:
                self.part_increment(monitor, part, &excess, times, sink)
            if one.occurs:
                self.noted(monitor, part, &excess, times, sink)
            if part.chain & 0xFFFFFFFFULL == 0:
                return
            part = &self.records.parts[part.chain & 0xFFFFFFFFULL]

    cdef int64_t part_increment(self, uint32_t monitor, const Part* part, int64_t* excess, int64_t times,
                            CountAccumulator sink) noexcept nogil:
        """Returns a part's increments for an architectural signal; adds them to a sink, if given."""
        cdef const CompiledQuery* one = &self.compiled[monitor]
        cdef const BlockHead* head
        cdef const BlockInstruction* instruction
        cdef uint64_t inside[4]
        cdef uint64_t failed[4]
        cdef uint64_t k, item
        cdef const uint64_t* items
        cdef int32_t i
        cdef uint32_t held
        cdef int64_t total = 0, own
        cdef Weight weight
        if block_of(part) == NO_BLOCK or first_of(part) > last_of(part):
            return 0
        inside[0] = inside[1] = inside[2] = inside[3] = 0
        failed[0] = failed[1] = failed[2] = failed[3] = 0
        head = &self.table.c.heads[block_of(part)]
        if part.chain >> 32:
            items = self.records.event_lists + self.records.event_starts[part.chain >> 32]
            for k in range(1, items[0] + 1):
                item = items[k]
                i = <uint32_t>(item >> EVENT_INSTRUCTION_SHIFT & INSTRUCTION_MASK)
                if (item >> EVENT_RANGED_SHIFT) & 1:
                    inside[i >> 6] |= <uint64_t>1 << (i & 63)
                if is_member(one.checks, item & OCCURRENCE_MASK) \
                        and (not one.ranged or (item >> EVENT_RANGED_SHIFT) & 1):
                    failed[i >> 6] |= <uint64_t>1 << (i & 63)
        for i in range(<int32_t>last_of(part), <int32_t>first_of(part) - 1, -1):
            if not self.passes(monitor, block_of(part), i):
                continue
            instruction = &self.table.c.instructions[head.first + i]
            own = 1 if (failed[i >> 6] >> (i & 63)) & 1 and instruction.isa_kind & Ia64Kind.LOAD_CHECK else 0
            weight = self.increments.increment_of(monitor, instruction,
                                                  head.cut == Cut.FAILED_CHECK and i == head.length - 1)
            held = part.executed_dispersal >> (i - first_of(part)) & 1 if i - first_of(part) < EXECUTED_BITS else 0
            if not one.ranged:
                own += weight.retired + held * weight.executed
            elif (inside[i >> 6] >> (i & 63)) & 1:
                own += held * weight.executed
            total += own
            if sink is not None:
                add_within(sink, monitor, block_of(part), i, own, excess, times)
        return total

    cdef int64_t noted(self, uint32_t monitor, const Part* part, int64_t* excess, int64_t times,
                       CountAccumulator sink) noexcept nogil:
        """Returns the occurrences of a monitor's set at the instructions of a part; adds them to a sink, if given."""
        cdef const CompiledQuery* one = &self.compiled[monitor]
        cdef const uint64_t* items
        cdef uint64_t k, item
        cdef uint32_t instruction
        cdef int64_t total = 0
        if part.chain >> 32 == 0:
            return 0
        items = self.records.event_lists + self.records.event_starts[part.chain >> 32]
        for k in range(1, items[0] + 1):
            item = items[k]
            instruction = <uint32_t>(item >> EVENT_INSTRUCTION_SHIFT & INSTRUCTION_MASK)
            if is_member(one.occurrences, item & OCCURRENCE_MASK) \
                    and (not one.ranged or (item >> EVENT_RANGED_SHIFT) & 1) \
                    and self.passes(monitor, block_of(part), instruction):
                total += item >> OCCURRENCE_BITS & OCCURRENCE_MASK
                if sink is not None:
                    add_within(sink, monitor, block_of(part), instruction, item >> OCCURRENCE_BITS & OCCURRENCE_MASK,
                               excess, times)
        return total

    cdef void add_moved(self, uint32_t monitor, const Part* part, int64_t times, CountAccumulator sink) noexcept nogil:
        """Adds registers moved by the register stack engine: so many a cycle, in cycles in which nothing issues."""
        cdef int64_t moved = self.noted(monitor, part, NULL, 0, None), rate = self.stack_rate
        cdef const uint64_t* items
        if moved:
            items = self.records.event_lists + self.records.event_starts[part.chain >> 32]
            add(sink, monitor, block_of(part), <uint32_t>(items[1] >> EVENT_INSTRUCTION_SHIFT & INSTRUCTION_MASK),
                times * (
                moved // rate * compile_query(&self.compiled[monitor], rate) + compile_query(&self.compiled[monitor],
                                                                                             moved % rate)))
