"""Branch prediction of an out-of-order core: see interval_predictor.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cpdef enum BranchVerdict:        # result for a branch
    FORESEEN = 0
    LATE = 1                     # direction predicted, target known only at decode
    MISPREDICTED = 2


cdef enum:
    PATH_BITS = 24
    PATH_SHIFT = 4


@cython.final
cdef class IntervalPredictor:
    cdef LruSets targets         # of branches with known targets; a target is in the field `ready`
    cdef uint8_t* bimodal        # counters of two bits
    cdef uint8_t* shared         # ... indexed with the history
    cdef uint8_t* chooser        # ... that choose one of the two: 2 and 3 the shared one
    cdef uint64_t* indirect      # targets by address and path
    cdef uint64_t bimodal_mask, shared_mask, history_mask, indirect_mask
    cdef uint64_t history        # of conditional branches
    cdef uint64_t path           # of taken ones
    cdef ReturnStack returns
    cdef LoopCounters loops      # None: there are none
    cdef TagePredictor tage      # None: another kind
    cdef bint counts_loops, by_path      # whether there are these

    cdef BranchVerdict follow(self, uint8_t kind, uint64_t address, uint64_t behind, uint64_t target) noexcept nogil
    cdef BranchVerdict verdict(self, uint8_t kind, uint64_t address, uint64_t behind, uint64_t target) noexcept nogil
    cdef void take_unforeseen(self, uint64_t address, uint64_t target) noexcept nogil
    cdef bint known_target(self, uint64_t address, uint64_t target) noexcept nogil
    cdef bint indirect_target(self, uint64_t address, uint64_t target) noexcept nogil


cdef inline uint64_t branch_hash(uint64_t address) noexcept nogil:
    return address ^ address >> 13


cdef inline bint predict_direction(IntervalPredictor self, uint64_t hash, bint taken) noexcept nogil:
    """Predicts the direction of a branch, whose address has a hash; trains the counters and the history. Returns
    whether it was right. Branchless on the outcome: the host would mispredict as the program's own processor does."""
    cdef uint8_t* own
    cdef uint8_t* other
    cdef uint8_t* choice
    cdef uint8_t alone, together, differ, right
    if self.by_path:
        return predict_by_path(self.tage, hash, taken)
    own = &self.bimodal[hash & self.bimodal_mask]
    alone = own[0] >> 1
    own[0] = stepped(own[0], taken)
    if self.shared == NULL:
        return alone == taken
    other = &self.shared[(hash ^ self.history) & self.shared_mask]
    choice = &self.chooser[hash & self.shared_mask]
    together = other[0] >> 1
    self.history = (self.history << 1 | taken) & self.history_mask
    other[0] = stepped(other[0], taken)
    differ, right = alone ^ together, choice[0] >> 1
    choice[0] ^= (choice[0] ^ stepped(choice[0], together == taken)) & (0 - differ)
    if self.counts_loops:
        return predict_loop(self.loops, hash, alone ^ differ & right, taken) == taken
    return (alone ^ differ & right) == taken


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
