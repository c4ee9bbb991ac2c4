"""Replay of memoized blocks, and simulation of all others: see memo_replay.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


@cython.final
cdef class MemoReplay:
    cdef Pipeline pipeline
    cdef DataMemory data
    cdef InstructionFetch fetch
    cdef Records records
    cdef Memo memo
    cdef const UserClock* clock  # the core's

    cdef int64_t now             # as Pipeline.now, also during replay
    cdef uint32_t state          # number of the pipeline's state in the memo; 0: it is in the pipeline itself
    cdef MemoNode* node          # of the memo, that led to its state; NULL: none
    cdef const MemoNode* ran     # the memo's node that the current block was replayed from; NULL: it was simulated
    cdef bint is_known           # the current block is memoized, but was not replayed
    cdef uint64_t repeated, simulated    # numbers of blocks

    # Replays a block after the fast path, if it is memoizable (``known``), else simulates it; returns whether replayed.
    cdef bint run(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome, bint known) noexcept nogil
    # Restores the pipeline's state from the memo.
    cdef void restore_pipeline(self) noexcept nogil
    # r32 has moved up by ``moved`` registers.
    cdef void move_frame(self, uint32_t moved) noexcept nogil
    # The rotating registers were renamed.
    cdef void rotate(self) noexcept nogil

    # These three also during replay: the open cycle's instructions, NULL: no cycle is open; the front end's clock;
    # cycles recorded so far.
    cdef const OpenPart* open_part(self) noexcept nogil
    cdef int64_t front(self) noexcept nogil
    cdef int64_t recorded(self) noexcept nogil

    cdef bint repeat(self, const BlockExecution* run, uint64_t outcome) noexcept nogil
    cdef MemoNode* following(self, const BlockExecution* run, uint64_t outcome) noexcept nogil
    cdef bint may_switch(self, int64_t until) noexcept nogil
    cdef MemoNode* follow_responses(self, const BlockExecution* run, uint32_t point) noexcept nogil
    cdef void request_again(self, const BlockExecution* run, const MemoryEvent* event) noexcept nogil
    cdef void make_late_accesses(self, const BlockPlan* plan, const BlockExecution* run, int64_t began) noexcept nogil
    cdef void repeat_allocs(self, const BlockPlan* plan, int64_t began) noexcept nogil
    cdef void simulate(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome, bint known) noexcept nogil
    cdef void memoize(self, const BlockPlan* plan, const BlockExecution* run, uint32_t before, uint64_t outcome,
                      int64_t cycles) noexcept nogil
    cdef uint32_t learn(self, const BlockPlan* plan, const BlockExecution* run, uint32_t before, uint64_t outcome,
                        uint32_t after, int64_t cycles) noexcept nogil
    cdef bint late_accesses(self, const BlockPlan* plan, const BlockExecution* run, int64_t cycles) noexcept nogil
