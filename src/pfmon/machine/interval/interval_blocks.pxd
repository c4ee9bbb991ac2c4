"""Plans of blocks for an out-of-order core, with their counts: see interval_blocks.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.machine._outoforder cimport CoreBlock, CoreBlocks, free_block
from pfmon.stream._stream cimport BANK_MASK, BANK_SHIFT, BlockTable, Failure

cdef enum:
    MAX_DISPATCH_WIDTH = 8       # instructions that dispatch in a cycle
    NO_DESTINATION = 0

cdef struct IntervalAccess:      # an access
    uint16_t size                # and BYPASSES: it is in no line, so that it is never regular
    uint8_t instruction          # its number in the block
    uint8_t reads, writes
    uint8_t locked

# For the host's caches, fields used in a run of a block are contiguous.
cdef struct IntervalBlock:       # then `reached` accesses, then its counts
    uint64_t first_line          # of L1I
    uint64_t last                # address of its last instruction, the branch
    uint64_t ip
    uint64_t* tallies            # by instruction and kind (event_tallies.pxd); NULL: no events so far
    Dataflow* flow               # NULL: the operands of its instructions are not known
    CoreBlock* core              # NULL: there is no table of instructions
    uint64_t in_uop_cache        # windows that had been entered in the µop cache when it had the block
    uint32_t number
    uint16_t reached
    uint8_t length
    uint8_t more_lines           # of L1I, after the first
    uint8_t branch               # BranchKind of it
    uint8_t condition            # bit of the word that is set when it was taken, or ALWAYS
    uint8_t groups               # its whole dispatch groups
    uint8_t short_by             # slots of a dispatch group filled by the rest: its length modulo the width
    uint8_t listed               # it has events to be recorded
    uint8_t last_bytes           # of its last instruction

cdef struct BlockCounts:
    IntervalBlock* next          # of those with events to be recorded
    uint64_t ran                 # number of its runs, if executions are counted (EVENT_EXECUTIONS),
    uint64_t seen                # ... and of those whose executions are
    uint64_t* events             # by instruction and CoreEvent; NULL: none so far
    uint64_t runs[MAX_DISPATCH_WIDTH]  # number of its dispatches, by filled slots of the current group: `width` of them


cdef inline IntervalAccess* accesses_of(IntervalBlock* plan) noexcept nogil:
    return <IntervalAccess*>(plan + 1)


cdef inline uint64_t accesses_bytes(uint64_t reached) noexcept nogil:
    """Returns the bytes of a plan's accesses: whole words."""
    return (reached * sizeof(IntervalAccess) + 7) & ~<uint64_t>7


cdef inline BlockCounts* counts_of(IntervalBlock* plan) noexcept nogil:
    return <BlockCounts*>(<char*>(plan + 1) + accesses_bytes(plan.reached))


cdef inline uint64_t behind(const IntervalBlock* plan) noexcept nogil:
    """Returns the address after a block's last instruction."""
    return plan.last + plan.last_bytes


@cython.final
cdef class IntervalBlocks:
    cdef readonly BlockTable table
    cdef IntervalBlock** plans[2]  # by bank and number
    cdef uint64_t capacity[2]
    cdef uint32_t width, line_shift
    cdef uint64_t operands_at
    cdef CoreBlocks cores        # None: no
    cdef Failure failure

    cdef IntervalBlock* make(self, uint64_t number) noexcept nogil
    cdef uint64_t bytes_of(self, uint64_t reached) noexcept nogil
    cdef bint follow(self, IntervalBlock* plan) noexcept nogil


cdef inline IntervalBlock* block_of(IntervalBlocks plans, uint64_t number) noexcept nogil:
    """Returns the plan of a block; NULL: the reason is in `failure`."""
    cdef uint64_t bank = number >> BANK_SHIFT, index = number & BANK_MASK
    if index < plans.capacity[bank] and plans.plans[bank][index] != NULL:
        return plans.plans[bank][index]
    return plans.make(number)
