"""Filters of monitors: code ranges and opcode matchers, as programmed in a PMU."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockInstruction

cdef enum:
    MAX_BREAKPOINT_PAIRS = 4     # of breakpoint registers
    MAX_FILTERS = 64             # different ones in one programming: bits of a word

cdef struct InstructionFilter:
    bint everywhere              # not constrained by a code range
    bint inverse                 # matches outside of the ranges
    uint32_t pairs               # (address, mask): equal where the mask has ones
    uint64_t address[MAX_BREAKPOINT_PAIRS]
    uint64_t mask[MAX_BREAKPOINT_PAIRS]
    uint32_t intervals           # low to high, both included
    uint64_t low[MAX_BREAKPOINT_PAIRS]
    uint64_t high[MAX_BREAKPOINT_PAIRS]
    bint any_opcode              # not constrained by an opcode matcher
    uint64_t match
    uint64_t opcode_mask         # bits that are compared
    uint32_t slots               # a bit for each type of slot (ia64.Unit)

cdef bint passes(const InstructionFilter* filter, const BlockInstruction* instruction,
                 const uint8_t* payload) noexcept nogil
cdef bint is_open(const InstructionFilter* filter) noexcept nogil
