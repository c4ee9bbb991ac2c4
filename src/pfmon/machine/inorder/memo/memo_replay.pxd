"""Replay of memoized blocks, and simulation of all others: see memo_replay.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef class MemoReplay(CaptureReporting):
    cdef MemoNode* node          # of the memo, that led to its state; NULL: none
    cdef readonly uint64_t repeated, simulated
    cdef bint alone              # no listener for blocks, and no other thread or core
    cdef bint is_known           # the current block is memoized, but was not replayed

    @cython.final
    cdef MemoNode* following(self, const BlockExecution* run, uint64_t outcome) noexcept nogil
    @cython.final
    cdef bint may_switch(self, int64_t until) noexcept nogil
    @cython.final
    cdef bint repeat(self, const BlockExecution* run, uint64_t outcome) noexcept nogil
    @cython.final
    cdef MemoNode* follow_responses(self, const BlockExecution* run, uint32_t point) noexcept nogil
    @cython.final
    cdef void request_again(self, const BlockExecution* run, const MemoryEvent* event) noexcept nogil
    @cython.final
    cdef bint late_accesses(self, const BlockPlan* plan, const BlockExecution* run, int64_t cycles) noexcept nogil
    @cython.final
    cdef void make_late_accesses(self, const BlockPlan* plan, const BlockExecution* run, int64_t began) noexcept nogil
    @cython.final
    cdef void simulate(self, const BlockPlan* plan, BlockExecution* run, uint64_t outcome, bint known) noexcept nogil
    @cython.final
    cdef uint32_t learn(self, const BlockPlan* plan, const BlockExecution* run, uint32_t before, uint64_t outcome,
                        uint32_t after,
                        int64_t cycles) noexcept nogil
    @cython.final
    cdef void repeat_allocs(self, const BlockPlan* plan, int64_t began) noexcept nogil
    @cython.final
    cdef void restore_pipeline(self) noexcept nogil
