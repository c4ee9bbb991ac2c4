"""Timing of blocks: see timing.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t


cdef enum:
    MAX_HELD_WORDS = MAX_PLAN_LENGTH + 1  # words of a block and its addresses
    MAX_BLOCK_MARKS = 512


cdef class Timing(MemoReplay):
    cdef bint memoize
    cdef uint64_t thread_id      # set in all data addresses passed to the mechanisms
    cdef uint64_t code_id        # ... of code
    cdef uint64_t held[MAX_HELD_WORDS]
    cdef const uint64_t* block   # word of the block that waits for its marks and for the next one; NULL: none
    cdef const BlockPlan* plan   # of it
    cdef uint64_t block_count    # its words
    cdef uint64_t marks[MAX_BLOCK_MARKS]
    cdef uint32_t mark_count
    cdef BranchRegisters branch_registers
    cdef uint64_t last           # number of the block that ran last
    cdef SnoopedCaches snooped   # this core's caches, snooped by another one; None: there is none

    cdef void block_ran(self, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef uint64_t predict(self, const BlockPlan* plan, BlockExecution* run, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef bint simulate_or_replay(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome,
                                 bint known) noexcept nogil
    @cython.final
    cdef void follow_branch_registers(self, const BlockPlan* plan, BlockExecution* run, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef void report_responses(self, uint64_t number) noexcept nogil
    @cython.final
    cdef void check_for_losses(self) noexcept nogil
    @cython.final
    cdef void collect_marks(self, const BlockPlan* plan, BlockMarks* block_marks) noexcept nogil
    @cython.final
    cdef void report_block(self, uint32_t marks) noexcept nogil
    @cython.final
    cdef void find_ranged(self, const BlockPlan* plan, BlockExecution* run) noexcept nogil
    @cython.final
    cdef void follow_frames(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil
    @cython.final
    cdef void flush_behind(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil
    @cython.final
    cdef void apply_marks(self, const BlockPlan* plan, uint64_t number) noexcept nogil
    @cython.final
    cdef void record_interruption(self, const BlockPlan* plan, uint64_t number, uint32_t instruction,
                                 uint64_t mark) noexcept nogil
    @cython.final
    cdef void apply_late_marks(self) noexcept nogil
    @cython.final
    cdef void apply_hints(self, const BlockPlan* plan, const BlockExecution* run, uint64_t next_ip) noexcept nogil
