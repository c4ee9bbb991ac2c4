"""What a block asks of an out-of-order core, and what happened in it: see block_plans.pyx."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.machine.interval.dataflow cimport Dataflow
from pfmon.stream.failure cimport Failure
from pfmon.stream.table cimport BANK_MASK, BANK_SHIFT, BlockTable

cdef enum:
    MOST_WIDTH = 8               # instructions that dispatch in a cycle
    NO_DESTINATION = 0

cdef struct Reached:             # an access
    uint16_t size
    uint8_t instruction          # its number in the block
    uint8_t reads, writes

# A program's blocks are many, and the caches of the host are small: what a run of a block looks at is side by side.
cdef struct BlockPlan:           # 64 bytes; then `reached` accesses, then its counts
    uint64_t first_line          # of L1I
    uint64_t last                # address of its last instruction, which is its branch
    uint64_t ip
    uint64_t* tallies            # by instruction and kind (tallies.pxd); NULL: nothing happened in it
    Dataflow* flow               # NULL: nobody said what its instructions read and write
    uint64_t held                # how often its branch's condition held
    uint32_t number
    uint16_t reached
    uint8_t length
    uint8_t more_lines           # of L1I, behind the first
    uint8_t branch               # BranchKind of it
    uint8_t condition            # bit of the word that says that it was taken, or ALWAYS
    uint8_t groups               # whole dispatch groups of it
    uint8_t short_by             # slots of a dispatch group that it leaves filled: its length modulo the width
    uint8_t listed               # it has something to be recorded
    uint8_t last_bytes           # of its last instruction

cdef struct BlockCounts:
    BlockPlan* next              # of those that have something to be recorded
    uint64_t ran                 # how often it ran, without those in `runs`
    uint64_t runs[MOST_WIDTH]    # how often it dispatched, by how many slots of the group were taken: `width` of them


cdef inline Reached* accesses_of(BlockPlan* plan) noexcept nogil:
    return <Reached*>(plan + 1)


cdef inline uint64_t accesses_bytes(uint64_t reached) noexcept nogil:
    """Bytes that the accesses of a plan take: whole words."""
    return (reached * sizeof(Reached) + 7) & ~<uint64_t>7


cdef inline BlockCounts* counts_of(BlockPlan* plan) noexcept nogil:
    return <BlockCounts*>(<char*>(plan + 1) + accesses_bytes(plan.reached))


cdef inline uint64_t behind(const BlockPlan* plan) noexcept nogil:
    """The address behind a block's last instruction."""
    return plan.last + plan.last_bytes


cdef class BlockPlans:
    cdef readonly BlockTable table
    cdef BlockPlan** plans[2]    # by bank and number
    cdef uint64_t capacity[2]
    cdef uint32_t width, line_shift
    cdef uint64_t operands_at
    cdef Failure failure

    cdef BlockPlan* make(self, uint64_t number) noexcept nogil
    cdef uint64_t bytes_of(self, uint64_t reached) noexcept nogil
    cdef bint follow(self, BlockPlan* plan) noexcept nogil


cdef inline BlockPlan* plan_of(BlockPlans plans, uint64_t number) noexcept nogil:
    """The plan of a block; NULL: `failure` says why there is none."""
    cdef uint64_t bank = number >> BANK_SHIFT, place = number & BANK_MASK
    if place < plans.capacity[bank] and plans.plans[bank][place] != NULL:
        return plans.plans[bank][place]
    return plans.make(number)
