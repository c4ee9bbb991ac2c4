"""Increments of monitors, compiled: the terms of their signals, and their filters."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockInstruction, Table


cdef enum:
    MAX_BREAKPOINT_PAIRS = 4     # of breakpoint registers
    MAX_FILTERS = 64             # different ones in one programming: bits of a word

    CODE_LEVELS = 4              # privilege levels, each with a code range of its own
    ALL_PRIVILEGES = 0xFFFF
    LEVEL_BITS = 3               # of BlockInstruction.privilege

cdef struct CodeRange:           # of a monitor at one privilege level
    bint everywhere              # not constrained by a code range
    bint inverse                 # matches outside of the ranges
    uint32_t pairs               # (address, mask): equal where the mask has ones
    uint64_t address[MAX_BREAKPOINT_PAIRS]
    uint64_t mask[MAX_BREAKPOINT_PAIRS]
    uint32_t intervals           # low to high, both included
    uint64_t low[MAX_BREAKPOINT_PAIRS]
    uint64_t high[MAX_BREAKPOINT_PAIRS]

cdef struct InstructionFilter:   # of a monitor, as programmed in a PMU
    CodeRange code[CODE_LEVELS]
    uint32_t privileges          # a bit for each that passes
    bint any_opcode              # not constrained by an opcode matcher
    uint64_t match
    uint64_t opcode_mask         # bits that are compared
    uint32_t slots               # a bit for each type of slot (ia64.Unit)

cdef bint passes(const InstructionFilter* filter, const BlockInstruction* instruction,
                 const uint8_t* payload) noexcept nogil
cdef bint passes_outside(const InstructionFilter* filter, uint32_t privilege) noexcept nogil
cdef bint is_open(const InstructionFilter* filter) noexcept nogil


cdef enum:
    MAX_TERMS = 32
    ANY_VALUE = 0xFF

cdef struct InstructionTerm:
    uint32_t wanted, unwanted, isa_wanted, isa_unwanted
    int32_t retired, executed
    bint failed_check            # only of the check that left the block

cdef struct MarkTerm:
    uint32_t kind                # words.Mark
    uint32_t values              # a bit for each value 0 to 3, or ANY_VALUE
    int32_t count, low

cdef struct CompiledCounts:      # architectural increments of one monitor
    uint32_t filter              # number of its filter
    bint ranged                  # only accesses in the data ranges
    uint32_t terms, mark_terms
    InstructionTerm term[MAX_TERMS]
    MarkTerm mark_term[MAX_TERMS]

cdef struct Weight:              # of an instruction
    int64_t retired, executed


@cython.final
cdef class Increments:
    cdef readonly uint32_t monitors
    cdef CompiledCounts* counted
    cdef InstructionFilter* filters
    cdef readonly uint32_t filter_count
    cdef readonly bint all_open  # all filters are open

    cdef Weight increment_of(self, uint32_t monitor, const BlockInstruction* instruction,
                             bint failed_check) noexcept nogil
    cdef uint64_t passing(self, const BlockInstruction* instruction, const uint8_t* payload) noexcept nogil
    cdef uint64_t passing_at(self, const Table* table, uint64_t block, uint32_t instruction) noexcept nogil


cdef inline int64_t mark_increment(const MarkTerm* term, uint64_t word) noexcept nogil:
    """Returns the increment of one mark."""
    cdef uint64_t value = word & 0xFFFFFFFFULL
    if term.values != ANY_VALUE and (value > 3 or not (term.values >> value) & 1):
        return 0
    return term.count + term.low * <int64_t>(value & 0xFFFF)
