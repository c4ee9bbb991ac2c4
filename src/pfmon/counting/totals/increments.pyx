"""Compiles the description of increments (signals/signal_terms.py) for the loops of counting.

Totals and live counting share it: the increments of an instruction when it retires and when it executes, those of a
mark, and the filters on them.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pfmon.stream._stream cimport OUTSIDE, PRIVILEGES, BlockHead, Ia64Payload

from pfmon.signals.signal_terms import FAILED_CHECK, MARK, terms


# Code ranges and opcode matchers, evaluated once for each instruction of a block.

cdef enum:
    BUNDLE_OFFSET = 15           # bits of an address below its bundle's
    ALL_SLOTS = 15               # M, I, F, B


cdef bint in_code(const CodeRange* code, uint64_t address) noexcept nogil:
    cdef uint32_t i
    cdef bint inside = False
    if code.everywhere:
        return True
    for i in range(code.pairs):
        inside |= not (address ^ code.address[i]) & code.mask[i]
    for i in range(code.intervals):
        inside |= code.low[i] <= address <= code.high[i]
    return inside != code.inverse


cdef bint passes(const InstructionFilter* filter, const BlockInstruction* instruction,
                 const uint8_t* payload) noexcept nogil:
    """Whether a filter passes an instruction, at its privilege."""
    cdef const Ia64Payload* code = <const Ia64Payload*>payload
    if not (filter.privileges >> instruction.privilege) & 1:
        return False
    if not in_code(&filter.code[instruction.privilege & LEVEL_BITS], instruction.address & ~<uint64_t>BUNDLE_OFFSET):
        return False
    if filter.any_opcode:
        return True
    return (filter.slots >> code.unit) & 1 and not (code.encoding ^ filter.match) & filter.opcode_mask


cdef bint passes_outside(const InstructionFilter* filter, uint32_t privilege) noexcept nogil:
    """Whether a filter passes events of no retired instruction, at a privilege: they have neither address nor
    opcode."""
    return (filter.privileges >> privilege) & 1 and in_code(&filter.code[privilege & LEVEL_BITS], NOWHERE) and (
        filter.any_opcode or (filter.opcode_mask == 0 and filter.slots & ALL_SLOTS == ALL_SLOTS))


cdef bint is_open(const InstructionFilter* filter) noexcept nogil:
    """Whether the filter passes everything."""
    cdef uint32_t level
    for level in range(CODE_LEVELS):
        if not filter.code[level].everywhere:
            return False
    return filter.any_opcode and filter.privileges == ALL_PRIVILEGES


UNITS = "mifb"


cdef class Increments:
    """``monitors``: (signal, filter, ranged) each; a filter is an InstructionFilter (pmu/qualify/filters.py);
    ``ranged``: only accesses in the data ranges count. ValueError for more different filters
    than fit."""

    def __cinit__(self, monitors):
        cdef uint32_t number
        self.monitors = len(monitors)
        self.counted = <CompiledCounts*>calloc(self.monitors + 1, sizeof(CompiledCounts))
        self.filters = <InstructionFilter*>calloc(self.monitors + 1, sizeof(InstructionFilter))
        if self.counted == NULL or self.filters == NULL:
            raise MemoryError
        self.filter([monitor.filter for monitor in monitors])
        for number, monitor in enumerate(monitors):
            self.counted[number].ranged = monitor.ranged
            for term in terms().get(monitor.signal, ()):
                add_term(&self.counted[number], term)

    def __dealloc__(self):
        free(self.counted)
        free(self.filters)

    def filter(self, filters):
        """Sets the monitors' filters, one for each. Blocks counted so far are not counted again."""
        cdef uint32_t number
        distinct = list(dict.fromkeys(filters))
        if len(distinct) > MAX_FILTERS:
            raise ValueError(
                f"{len(distinct)} different qualifications in one programming: there is room for {MAX_FILTERS}")
        self.filter_count = len(distinct)
        memset(self.filters, 0, len(distinct) * sizeof(InstructionFilter))
        for number, one in enumerate(distinct):
            set_filter(&self.filters[number], one)
        self.all_open = True
        for number in range(self.filter_count):
            self.all_open = self.all_open and is_open(&self.filters[number])
        for number, one in enumerate(filters):
            self.counted[number].filter = distinct.index(one)

    cdef Weight increment_of(self, uint32_t monitor, const BlockInstruction* instruction,
                             bint failed_check) noexcept nogil:
        """Returns an instruction's increments, without the filter; ``failed_check``: it is a check that left its
        block."""
        cdef const CompiledCounts* counted = &self.counted[monitor]
        cdef const InstructionTerm* term
        cdef Weight weight
        cdef uint32_t i
        weight.retired = weight.executed = 0
        for i in range(counted.terms):
            term = &counted.term[i]
            if instruction.kind & term.wanted == term.wanted and not instruction.kind & term.unwanted \
                    and instruction.isa_kind & term.isa_wanted == term.isa_wanted \
                    and not instruction.isa_kind & term.isa_unwanted and (failed_check or not term.failed_check):
                weight.retired += term.retired
                weight.executed += term.executed
        return weight

    cdef uint64_t passing(self, const BlockInstruction* instruction, const uint8_t* payload) noexcept nogil:
        """Returns the filters that pass an instruction, as bits."""
        cdef uint64_t found = 0
        cdef uint32_t i
        for i in range(self.filter_count):
            if passes(&self.filters[i], instruction, payload):
                found |= <uint64_t>1 << i
        return found

    cdef uint64_t passing_at(self, const Table* table, uint64_t block, uint32_t instruction) noexcept nogil:
        """Returns the filters that pass events of an instruction of a block, as bits. One that the block does not have:
        events of no retired instruction, at their own privilege (OUTSIDE), else at the block's, without a block at that
        of a reset, level 0."""
        cdef const BlockHead* head
        cdef uint64_t found = 0, place
        cdef uint32_t i, privilege = 0
        if block != NO_BLOCK:
            head = &table.heads[block]
            if instruction < head.length:
                place = head.first + instruction
                return self.passing(&table.instructions[place], table.payloads + place * table.header.payload_bytes)
            privilege = table.instructions[head.first].privilege
        if OUTSIDE <= instruction < OUTSIDE + PRIVILEGES:
            privilege = instruction - OUTSIDE
        for i in range(self.filter_count):
            found |= <uint64_t>passes_outside(&self.filters[i], privilege) << i
        return found


cdef void set_code(CodeRange* range_, code):
    cdef uint32_t i
    range_.everywhere, range_.inverse = code.everything, code.inverse
    if len(code.blocks) > MAX_BREAKPOINT_PAIRS or len(code.intervals) > MAX_BREAKPOINT_PAIRS:
        raise ValueError(f"there are {MAX_BREAKPOINT_PAIRS} pairs of breakpoint registers")
    range_.pairs, range_.intervals = len(code.blocks), len(code.intervals)
    for i, (address, mask) in enumerate(code.blocks):
        range_.address[i], range_.mask[i] = address, mask
    for i, (low, high) in enumerate(code.intervals):
        range_.low[i], range_.high[i] = low, high


cdef void set_filter(InstructionFilter* filter, one):
    cdef uint32_t i
    opcode = one.opcode
    for i, code in enumerate(one.codes):
        set_code(&filter.code[i], code)
    filter.privileges = one.privileges
    filter.any_opcode = opcode.everything
    filter.match, filter.opcode_mask = opcode.match, opcode.mask
    for i, letter in enumerate(UNITS):
        if letter in opcode.slots:
            filter.slots |= 1 << i
    if "i" in opcode.slots:
        filter.slots |= 1 << 4           # long instructions are I-type (Montecito manual table 3-11)


cdef void add_term(CompiledCounts* counted, term):
    cdef InstructionTerm* instruction
    cdef MarkTerm* mark
    if counted.terms == MAX_TERMS or counted.mark_terms == MAX_TERMS:
        raise ValueError(f"a signal has {MAX_TERMS} terms at the most")
    if term.source == MARK:
        mark = &counted.mark_term[counted.mark_terms]
        counted.mark_terms += 1
        mark.kind, mark.count, mark.low = term.mark, term.each, term.low
        mark.values = sum(1 << value for value in term.values) if term.values else ANY_VALUE
        return
    instruction = &counted.term[counted.terms]
    counted.terms += 1
    kinds = term.kinds
    instruction.wanted, instruction.unwanted = kinds.wanted, kinds.unwanted
    instruction.isa_wanted, instruction.isa_unwanted = kinds.isa_wanted, kinds.isa_unwanted
    instruction.retired, instruction.executed = term.retired, term.executed
    instruction.failed_check = term.source == FAILED_CHECK
