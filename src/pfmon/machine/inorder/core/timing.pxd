"""Timing of blocks: see timing.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


@cython.final
cdef class Timing:
    cdef Pipeline pipeline
    cdef DataMemory data
    cdef InstructionFetch fetch
    cdef BranchPredictor predictor
    cdef MemoReplay replay
    cdef CaptureReporting captures
    cdef RecordReporting shown
    cdef MarkEffects effects
    cdef SnoopedCaches snooped   # this core's caches, snooped by another one; None: there is none
    cdef bint memoizes
    cdef PhysicalAddresses pages # of a whole system; None: a program's

    cdef BranchRegisters branch_registers
    cdef uint64_t last           # number of the block that ran last; BLOCK_MASK: none

    # Runs the held block, which accesses memory at ``addresses``; control goes to ``next_ip``.
    cdef void run(self, HeldBlock* held, const uint64_t* addresses, uint64_t next_ip) noexcept nogil
    cdef uint64_t target_of(self, const BlockPlan* plan, const BlockExecution* run, const HeldBlock* held,
                            uint64_t next_ip) noexcept nogil
    cdef void collect_walks(self, const HeldBlock* held, BlockMarks* block_marks) noexcept nogil
    # Processes marks of the block that ran last, which is no longer held; NULL plan: none has run.
    cdef void run_late_marks(self, const BlockPlan* plan, HeldBlock* held, uint64_t next_ip) noexcept nogil
    # Ends the open cycle and brings the records up to date; returns the last cycle.
    cdef int64_t drain(self) noexcept nogil

    cdef uint64_t predict(self, const BlockPlan* plan, BlockExecution* run, uint64_t next_ip) noexcept nogil
    cdef void follow_branch_registers(self, const BlockPlan* plan, BlockExecution* run, uint64_t next_ip) noexcept nogil
    cdef void find_ranged(self, const BlockPlan* plan, BlockExecution* run, uint64_t accesses) noexcept nogil
    cdef bint time(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome, bint marked) noexcept nogil
    cdef void report(self, const BlockPlan* plan, BlockExecution* run, bint replayed, int64_t began,
                     uint64_t next_ip) noexcept nogil
    cdef void follow_frames(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil
    cdef void apply_hints(self, const BlockPlan* plan, const BlockExecution* run, uint64_t next_ip) noexcept nogil
    cdef void apply_step_hint(self, const PipelineOp* step, const BlockExecution* run) noexcept nogil
    cdef void flush_behind(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil
    cdef void change_translations(self, const BlockPlan* plan, const BlockExecution* run, uint32_t i) noexcept nogil
    cdef void report_responses(self, uint64_t number) noexcept nogil


# Functions, not methods: gcc inlines them into the loop over the stream.

cdef inline void finish_block(Timing timing, const BlockPlan* plan, const BlockExecution* run,
                              uint64_t next_ip) noexcept nogil:
    """What fast blocks also do after their instructions: frames, hints."""
    if plan.moves_frames:
        timing.follow_frames(plan, run)
    if plan.has_hints or (run.taken and (plan.branch.many or timing.fetch.stream.active)):
        timing.apply_hints(plan, run, next_ip)


cdef inline void run_fast_block(Timing timing, const HeldBlock* held, const uint64_t* addresses,
                                uint64_t next_ip) noexcept nogil:
    """`Timing.run` for a machine that runs alone, and an easy block without marks (BlockPlan.fast): with the same
    effect."""
    cdef BlockExecution run
    cdef uint64_t outcome
    begin_execution(&run, held.words[0], addresses, held.words + 1, held.plan.first_window)
    outcome = timing.predict(held.plan, &run, next_ip)
    run.quick = run_fast_path(timing.fetch, timing.data, held.plan, &run, timing.replay.now, False)
    timing.replay.run(held.plan, &run, outcome, True)
    finish_block(timing, held.plan, &run, next_ip)
    timing.last = run.number
