"""What a block asks of an out-of-order core, and what happened in it: see block_plans.pyx."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.machine.interval.dataflow cimport Dataflow, Source
from pfmon.stream.failure cimport Failure
from pfmon.stream.table cimport BANK_MASK, BANK_SHIFT, BlockTable

cdef enum:
    MOST_WIDTH = 8               # instructions that dispatch in a cycle
    NO_DESTINATION = 0

cdef struct Reached:             # an access
    uint32_t instruction         # its number in the block
    uint32_t size
    uint8_t reads, writes
    Source address               # what its address comes from

cdef struct BlockPlan:
    uint32_t number, length, reached
    uint64_t ip
    uint64_t first_line, last_line   # of L1I
    uint64_t behind              # address behind its last instruction
    uint64_t last                # address of that
    bint simple                  # all its instructions are in one line of L1I
    uint8_t branch               # BranchKind of it
    uint8_t condition            # bit of the word that says that it was taken, or ALWAYS
    uint8_t short_by             # slots of a dispatch group that it leaves filled: its length modulo the width
    uint32_t groups              # whole dispatch groups of it
    Reached* accesses
    Dataflow* flow               # NULL: nobody said what its instructions read and write
    uint64_t runs[MOST_WIDTH]    # how often it dispatched, by how many slots of the group were taken
    uint64_t* tallies            # by instruction and kind (tallies.pxd); NULL: nothing happened in it
    uint64_t hash                # of its branch's address
    uint64_t ran, held           # how often it ran, and its branch's condition held; without those in `runs`
    int64_t target_place         # of its branch in the target buffer, when it was found last
    BlockPlan* next              # of those that have something to be recorded
    bint listed


cdef class BlockPlans:
    cdef readonly BlockTable table
    cdef BlockPlan** plans[2]    # by bank and number
    cdef uint64_t capacity[2]
    cdef uint32_t width, line_shift
    cdef uint64_t operands_at
    cdef Failure failure

    cdef BlockPlan* make(self, uint64_t number) noexcept nogil
    cdef bint follow(self, BlockPlan* plan) noexcept nogil


cdef inline BlockPlan* plan_of(BlockPlans plans, uint64_t number) noexcept nogil:
    """The plan of a block; NULL: `failure` says why there is none."""
    cdef uint64_t bank = number >> BANK_SHIFT, place = number & BANK_MASK
    if place < plans.capacity[bank] and plans.plans[bank][place] != NULL:
        return plans.plans[bank][place]
    return plans.make(number)
