"""Plans of the stream's words, blocks and paths, for a machine without time: see word_plans.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BANK_MASK, BANK_SHIFT, BlockHead, BlockTable, Failure, PATH_BIT, PathTable

cdef enum:
    ACCESS_BYTES = 0x3FFF        # in a size: the bytes of the access less one, and BYPASSES: it is never regular
    BYPASSES = 1 << 13
    NO_READ = 1 << 14
    NO_WRITE_SHIFT = 15
    NO_CONDITION_BIT = 63        # words of blocks do not have it
    PATH_PLANS = 2               # among the banks of plans
    PLAN_BANKS = 3
    INITIAL_WORD_PLANS = 1 << 10
    MAX_WORD_SPAN = 1 << 15      # words of a path or block, its addresses and its marks

cdef enum:                        # what is counted of an access, or of a block
    MISS_L1D_READ = 0            # the order is that of the occurrences from CORE_L1D_READ_MISS on
    MISS_L1D_WRITE
    MISS_L1I
    MISS_LOAD_WALK
    MISS_STORE_WALK
    MISS_ITLB
    MISS_LLC_REFERENCE
    MISS_LLC
    MISS_BRANCH                  # + BranchClass
    MISS_KINDS = MISS_BRANCH + CLASS_JUMP + 1

cdef struct BranchStep:          # a branch of a plan that may change the predictor
    uint64_t hash                # of its address
    uint64_t address
    uint64_t behind              # the address after it
    uint64_t target              # of the block that ran next, if that is in the plan
    uint8_t* counter             # of the branch, by its address
    const uint32_t* loops        # the two branches of its set of loop counters
    uint8_t kind                 # BranchKind
    uint8_t condition            # bit of the block's word that is set when it was taken, or ALWAYS
    uint8_t taken                # of a block that is not the plan's last
    uint8_t block                # its number in the plan

cdef struct CodeLine:            # a line of instructions, other than that before it in the plan
    uint64_t address             # short
    const uint32_t* line         # the first member of its set of L1I
    const uint32_t* page         # ... of the ITLB
    uint32_t line_member         # what these are if the line and the page are the most recent
    uint32_t page_member

cdef struct BlockPart:           # a block of a plan
    uint32_t number
    uint16_t accesses            # up to and with this block
    uint16_t lines               # ... of L1I

cdef struct WordPlan:            # then its parts, its steps, its sizes
    uint64_t runs[2]             # by the condition of its last branch
    uint64_t ip
    uint64_t code_changes        # with that number all its lines were the most recent of their sets
    uint64_t first_line, last_line       # of L1I
    BlockPart* parts
    CodeLine* lines
    BranchStep* steps            # those of all blocks but the last, then that of the last, if it has one
    BranchStep* last
    uint16_t* sizes              # of the accesses: bytes less one, NO_READ, 1 << NO_WRITE_SHIFT
    uint64_t* tallies            # by access, then by block, and kind; NULL: no misses so far
    WordPlan* next               # of those with tallies to be written
    uint32_t condition_bit       # of the last block's condition in the plan's word; NO_CONDITION_BIT: it has none
    uint16_t accesses, blocks, line_count
    uint16_t step_count          # without the last block's
    uint16_t all_steps           # with it
    uint8_t listed


@cython.final
cdef class WordPlans:
    cdef readonly BlockTable table
    cdef PathTable paths         # None: there are none
    cdef WordPlan** plans[3]     # of blocks by bank and number; of paths by number
    cdef uint64_t capacity[3]
    cdef uint32_t line_shift
    cdef CacheContents caches
    cdef IntervalPredictor predictor
    cdef Failure failure

    cdef WordPlan* make(self, uint64_t which, uint64_t number) noexcept nogil
    cdef void fill(self, WordPlan* plan, const uint64_t* words, uint32_t blocks) noexcept nogil
    cdef void add_lines(self, WordPlan* plan, uint64_t first, uint64_t last) noexcept nogil
    cdef uint64_t end_of(self, const BlockHead* head) noexcept nogil
    cdef uint64_t* tallies_of(self, WordPlan* plan) noexcept nogil


cdef inline uint64_t bank_of_word(uint64_t word) noexcept nogil:
    """Returns the bank of plans that has a word's."""
    if word & PATH_BIT:
        return PATH_PLANS
    return (word & BLOCK_MASK) >> BANK_SHIFT


cdef inline uint64_t number_in_bank(uint64_t word) noexcept nogil:
    """Returns the number of a word's plan in its bank."""
    if word & PATH_BIT:
        return word & (BLOCK_MASK ^ PATH_BIT)
    return word & BANK_MASK


cdef bint room_for_plan(void*** plans, uint64_t* capacity, uint64_t number) noexcept nogil


cdef inline WordPlan* plan_of_word(WordPlans plans, uint64_t word) noexcept nogil:
    """Returns the plan of a word; NULL: the reason is in `failure`."""
    cdef uint64_t number = number_in_bank(word), which = bank_of_word(word)
    if number < plans.capacity[which] and plans.plans[which][number] != NULL:
        return plans.plans[which][number]
    return plans.make(which, number)
