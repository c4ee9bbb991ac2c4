"""Which instructions a monitor counts: code ranges and opcode matchers, as a programmed PMU has them."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.stream.table cimport BlockInstruction

cdef enum:
    MOST_PAIRS = 4               # of breakpoint registers
    MOST_FILTERS = 64            # different ones in one programming: bits of a word

cdef struct Filter:
    bint everywhere              # no code range constrains it
    bint inverse                 # inside of the ranges is outside
    uint32_t pairs               # (address, mask): equal where the mask has ones
    uint64_t address[MOST_PAIRS]
    uint64_t mask[MOST_PAIRS]
    uint32_t intervals           # low to high, both included
    uint64_t low[MOST_PAIRS]
    uint64_t high[MOST_PAIRS]
    bint any_opcode              # no opcode matcher constrains it
    uint64_t match
    uint64_t opcode_mask         # bits that have to be equal
    uint32_t slots               # a bit for each type of slot (ia64.Unit)

cdef bint passes(const Filter* filter, const BlockInstruction* instruction, const uint8_t* payload) noexcept nogil
cdef bint is_open(const Filter* filter) noexcept nogil
