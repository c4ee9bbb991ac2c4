"""Branch prediction of an out-of-order core: see interval_predictor.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cpdef enum BranchVerdict:        # result for a branch
    FORESEEN = 0
    LATE = 1                     # direction predicted, target known only at decode
    MISPREDICTED = 2


cdef enum:
    PATH_BITS = 24
    SATURATED = 3                # a counter of two bits
    PATH_SHIFT = 4


@cython.final
cdef class IntervalPredictor:
    cdef LruSets targets         # of branches with known targets; a target is in the field `ready`
    cdef uint8_t* bimodal        # counters of two bits
    cdef uint8_t* shared         # ... indexed with the history; `bimodal` without one
    cdef uint8_t* chooser        # ... that choose one of the two: 2 and 3 the shared one
    cdef uint64_t* indirect      # targets by address and path
    cdef uint64_t bimodal_mask, shared_mask, history_mask, indirect_mask
    cdef uint64_t history        # of conditional branches
    cdef uint64_t path           # of taken ones
    cdef uint32_t no_loops[LOOP_WAYS]    # none: zeros
    cdef ReturnStack returns
    cdef LoopCounters loops      # None: there are none
    cdef TagePredictor tage      # None: another kind
    cdef bint counts_loops, by_path      # whether there are these
    cdef bint direct_targets     # those of direct branches are of interest: they decide when one is known, not which

    cdef BranchVerdict follow(self, uint8_t kind, uint64_t address, uint64_t behind, uint64_t target) noexcept nogil
    cdef BranchVerdict verdict(self, uint8_t kind, uint64_t address, uint64_t behind, uint64_t target) noexcept nogil
    cdef bint train_counters(self, uint64_t hash, uint8_t* own, uint8_t* other, bint taken) noexcept nogil
    cdef void take_unforeseen(self, uint64_t address, uint64_t target) noexcept nogil
    cdef bint known_target(self, uint64_t address, uint64_t target) noexcept nogil
    cdef bint indirect_target(self, uint64_t address, uint64_t target) noexcept nogil


cdef inline uint64_t branch_hash(uint64_t address) noexcept nogil:
    return address ^ address >> 13


cdef inline uint8_t* counter_of(IntervalPredictor self, uint64_t hash) noexcept nogil:
    """The counter of a branch by its address; NULL: this kind of predictor has another place for it."""
    return NULL if self.by_path else &self.bimodal[hash & self.bimodal_mask]


cdef inline const uint32_t* loops_of(IntervalPredictor self, uint64_t hash) noexcept nogil:
    """The branches of the set of loop counters of a branch; of none, if there are no such counters."""
    return self.loops.branches + loop_set(self.loops, hash) if self.counts_loops else self.no_loops


cdef inline bint predict_with(IntervalPredictor self, uint64_t hash, uint8_t* own, const uint32_t* loops,
                              bint taken) noexcept nogil:
    """`predict_direction`, for a branch with this counter and this set of loop counters."""
    cdef uint8_t* other
    if self.by_path:
        return predict_by_path(self.tage, hash, taken)
    other = &self.shared[(hash ^ self.history) & self.shared_mask]
    if (own[0] == SATURATED * taken) & (other[0] == SATURATED * taken) & (not has_loop(loops, hash)):
        self.history = (self.history << 1 | taken) & self.history_mask
        return True
    return self.train_counters(hash, own, other, taken)


cdef inline bint predict_direction(IntervalPredictor self, uint64_t hash, bint taken) noexcept nogil:
    """Predicts the direction of a branch, whose address has a hash; trains the counters and the history. Returns
    whether it was right. Counters that agree and are saturated stay as they are."""
    return predict_with(self, hash, counter_of(self, hash), loops_of(self, hash), taken)


cdef inline void follow_path(IntervalPredictor self, uint64_t address, uint64_t target) noexcept nogil:
    """Adds a taken branch to the path."""
    if self.by_path:
        lengthen_path(self.tage, address, target)
    else:
        self.path = (self.path << PATH_SHIFT ^ target) & ((1 << PATH_BITS) - 1)


cdef inline bint follows(IntervalPredictor self, uint64_t address, uint64_t target) noexcept nogil:
    """Whether a taken direct branch, not a call, is the most recent of its set in the target buffer, with this target;
    if so, it is handled completely."""
    cdef const LruLine* first = lru_set(&self.targets.rows, address)
    if first.number != address + 1 or first.ready != <int64_t>target:
        return False
    follow_path(self, address, target)
    return True
