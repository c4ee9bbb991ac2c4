"""Blocks decoded for the pipeline: once per block, from the stream's descriptions (stream/block_table.pxd)."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t

from pfmon.isa.ia64._encodings cimport MAX_SOURCES, MAX_TARGETS, Row
from pfmon.stream._stream cimport Arena, BlockHead, BlockTable, Failure, executed, popcount

cdef enum:
    CHUNK = 4096                 # blocks in a chunk of the table
    CHUNKS = 4096                # for all possible block numbers: both banks of the block table
    MAX_PLAN_LENGTH = 128        # instructions of a block: bits of BlockExecution.ranged and BlockMarks.failed

cdef enum AfterBundle:           # effect of the end of a bundle (Itanium 2 dispersal rules)
    GOES_ON = 0
    SPLITS = 1                   # BBB, MBB; MIB, MFB, MMB with a branch
    SPLITS_BEFORE_BBB = 2        # MIB, MFB, MMB with nop.b or brp

cdef struct PipelineOp:          # an instruction
    uint16_t source[MAX_SOURCES]
    uint16_t target[MAX_TARGETS]
    uint8_t use[MAX_SOURCES]
    uint8_t operation[MAX_TARGETS]
    uint8_t sources
    uint8_t targets
    uint8_t port
    uint8_t access               # AccessKind + 1; 0: none
    uint8_t size
    uint8_t condition
    uint8_t slot
    uint8_t begins               # first of its bundle in the block
    uint8_t ends                 # last of its bundle
    uint8_t after                # AfterBundle
    uint8_t all_b                # its bundle is BBB
    uint8_t stop
    uint8_t effect
    uint8_t slots                # 2 for L+X
    uint8_t alone                # its bundle issues alone (Itanium: MMF)
    uint8_t writes_br            # number of the branch register that it writes; 0: none, or b0 (return stack)
    uint16_t access_flags
    uint64_t window              # address of its fetch window
    uint64_t address
    int64_t imm
    int64_t y
    uint16_t x


cdef inline bint executes(const PipelineOp* step, uint64_t word) noexcept nogil:
    """Whether its qualifying predicate held; ``word``: of the stream."""
    return executed(word, step.condition)


cdef struct MemAccess:           # a memory access of a block
    uint8_t step
    uint8_t condition
    uint8_t kind                 # AccessKind
    uint8_t size
    uint8_t group                # number of its instruction group in the block: its minimum cycle of issue
    uint8_t checks               # a check load: it accesses memory only if it misses the ALAT
    uint8_t releases             # release semantics: it waits for all earlier accesses

# For the host's caches, fields used in every run are in the first 64 bytes or right after the plan.
cdef struct BlockPlan:           # 128 bytes; then its accesses (`mem_accesses`)
    uint64_t ip
    uint64_t first_window
    uint64_t access_mask         # bits of the block's word whose instructions access memory
    MemAccess* mem_accesses
    PipelineOp* steps
    uint16_t accesses            # performed unconditionally
    uint16_t access_count        # when all conditions hold
    uint8_t length
    uint8_t more_windows         # after the first
    uint8_t more_lines           # L1I lines of its windows, after the first
    uint8_t cut
    uint8_t taken_condition      # of its branch; ALWAYS: it is always taken
    uint8_t has_branch
    uint8_t plain                # memoizable: no alloc, no rotation, no serialization ...
    uint8_t allocs               # number of allocs
    uint8_t has_hints            # brp
    uint8_t rotates
    uint8_t calls
    uint8_t returns
    uint8_t first_br_write       # its first step that writes a branch register (PipelineOp.writes_br)
    uint8_t br_writes_end        # ... and the one after the last; 0: none
    uint8_t pauses               # hint@pause
    uint8_t moves_frames         # a call, a return, a rotation
    uint8_t fast                 # memoizable, without work after it except frames and hints
    uint8_t spare
    uint8_t alias                # of a whole system: number of its virtual page among those of the frame
    uint8_t returns_from         # ... an rfi
    Branch branch                # its last instruction
    uint64_t end                 # address of the bundle (and slot) after it
    int32_t sof, sol, sor        # of its last alloc

cdef struct DecodedCode:         # an instruction of a block, decoded
    uint64_t address             # bundle address | slot
    int64_t imm                  # first immediate operand: a branch's target, alloc's frame size
    int64_t y                    # second: alloc's size of locals
    const Row* row               # NULL: reserved
    uint32_t kind, isa_kind
    uint16_t x                   # small operand: size of alloc's rotating part
    uint8_t r1, r2, r3, r4, qp   # register numbers, as encoded
    uint8_t unit                 # type of its slot (decoder.Unit)
    uint8_t condition
    uint8_t stop
    uint8_t access               # whether it accesses memory when it executes

@cython.final
cdef class BlockPlans:
    """Plans by block number, made when a block first runs."""

    cdef PortTable ports
    cdef BlockTable table
    cdef uint64_t thread_id
    cdef PhysicalAddresses pages # of a whole system; None: a program's
    cdef Arena arena             # the plans themselves, and their accesses
    cdef Arena steps             # ... their steps, used only in simulation: apart, so that lookups stay dense
    cdef BlockPlan** plans[CHUNKS]
    cdef bint a_in_i_to_m, mmf_splits
    cdef uint32_t line           # bytes, of L1I
    cdef Failure failure         # reason for a missing plan

    cdef BlockPlan* plan(self, uint64_t number) noexcept nogil
    cdef BlockPlan* make(self, uint64_t number) noexcept nogil
    cdef BlockPlan* allocate(self, const BlockHead* head) noexcept nogil
    cdef void decode_block(self, const BlockHead* head, DecodedCode* code) noexcept nogil
    cdef void add_step(self, BlockPlan* plan, const DecodedCode* codes, uint32_t i, uint8_t group) noexcept nogil
    cdef void finish(self, BlockPlan* plan, const DecodedCode* last) noexcept nogil
    cdef void tag(self, BlockPlan* plan, const BlockHead* head) noexcept nogil


cdef inline BlockPlan* plan_of(BlockPlans plans, uint64_t number) noexcept nogil:
    """`BlockPlans.plan`, inlined for a block that has one."""
    cdef BlockPlan** chunk = plans.plans[number // CHUNK]
    if chunk != NULL and chunk[number % CHUNK] != NULL:
        return chunk[number % CHUNK]
    return plans.plan(number)


cdef inline uint64_t words_of(const BlockPlan* plan, uint64_t word) noexcept nogil:
    """Returns the number of words of a run of the block: its own word, and an address for each access."""
    cdef uint64_t count = 1 + plan.accesses
    if word & plan.access_mask:
        count += popcount(word & plan.access_mask)
    return count
