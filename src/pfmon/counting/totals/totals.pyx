"""Totals: the monitors' counts of everything in a tally, block by block.

The sum, over all instructions, of the runs of the block times the retirement increments, of the times that the
condition held times the execution increments, and of the marks, which count at the instruction that caused them: event
tags move with the instruction through the pipeline (Montecito manual section 3.2.3.1).
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from pfmon.stream._stream cimport (
    ALWAYS, BANKS, BANK_MASK, BANK_SHIFT, BlockHead, BlockInstruction, Cut, Table, address_count)


def add_totals(Tally tally, Increments increments, CountAccumulator sink):
    """Adds the monitors' counts. MemoryError: no memory for counts by instruction."""
    cdef uint32_t bank
    cdef uint64_t i
    if increments.monitors == 0:
        return
    with nogil:
        if not tally.room():
            with gil:
                raise MemoryError("there is no memory for the totals of blocks")
        tally.flush_words()
        for bank in range(BANKS):
            for i in range(tally.table.c.header.bank[bank].blocks):
                if tally.blocks[bank][i].runs:
                    add_block(tally, (<uint64_t>bank << BANK_SHIFT) + i, increments, sink)
        for i in range(tally.site_capacity):
            if tally.sites[i].key:
                add_site(tally, &tally.sites[i], increments, sink)


cdef void add_block(Tally tally, uint64_t number, Increments increments, CountAccumulator sink) noexcept nogil:
    """Adds the increments of a block's instructions in all its runs."""
    cdef const Table* table = &tally.table.c
    cdef const BlockHead* head = &table.heads[number]
    cdef const BlockInstruction* instruction
    cdef uint64_t runs = tally_of(tally, number).runs, passing, held, access = 0, inside
    cdef uint32_t i, m
    cdef Weight weight
    cdef bint failed
    for i in range(head.length):
        instruction = &table.instructions[head.first + i]
        passing = increments.passing(instruction, table.payloads + (head.first + i) * table.header.payload_bytes)
        failed = head.cut == Cut.FAILED_CHECK and i == head.length - 1
        held = inside = 0
        if instruction.access:
            inside = tally.inside_of(number, access)
            access += address_count(instruction)
        if passing:
            held = runs if instruction.condition == ALWAYS else tally.held(number, instruction.condition)
            for m in range(increments.monitors):
                if not (passing >> increments.counted[m].filter) & 1:
                    continue
                weight = increments.increment_of(m, instruction, failed)
                if increments.counted[m].ranged:
                    add(sink, m, <uint32_t>number, i, weight.executed * <int64_t>inside)
                else:
                    add(sink, m, <uint32_t>number, i, weight.retired * <int64_t>runs + weight.executed * <int64_t>held)


cdef void add_site(Tally tally, const TallySite* site, Increments increments, CountAccumulator sink) noexcept nogil:
    """Adds the increments of the marks of one kind that an instruction caused."""
    cdef const Table* table = &tally.table.c
    cdef uint64_t block = site.key & 0xFFFFFFFFULL, passing
    cdef uint32_t number = <uint32_t>(site.key >> 32 & 0xFF), kind = <uint32_t>(site.key >> 40 & 0x7F), m, t
    cdef const MarkTally* marks
    cdef const MarkTerm* term
    passing = increments.passing_at(table, block, number)
    for m in range(increments.monitors):
        if not (passing >> increments.counted[m].filter) & 1:
            continue
        marks = &site.inside if increments.counted[m].ranged else &site.all
        for t in range(increments.counted[m].mark_terms):
            term = &increments.counted[m].mark_term[t]
            if term.kind == kind:
                add(sink, m, <uint32_t>block, number, sum_of(term, marks))


cdef int64_t sum_of(const MarkTerm* term, const MarkTally* marks) noexcept nogil:
    """Returns the sum of a term over many marks."""
    cdef int64_t total = 0
    cdef uint32_t value
    if term.values == ANY_VALUE:
        return term.count * <int64_t>marks.marks + term.low * <int64_t>marks.low
    for value in range(SMALL_VALUES):
        if (term.values >> value) & 1:
            total += (term.count + term.low * <int64_t>value) * <int64_t>marks.by_value[value]
    return total
