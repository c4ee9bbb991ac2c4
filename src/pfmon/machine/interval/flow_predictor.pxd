"""Branch prediction of an out-of-order core: see flow_predictor.pyx."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from pfmon.machine.patterns cimport train
from pfmon.machine.return_stack cimport ReturnStack
from pfmon.machine.tags cimport TagStore

cpdef enum Verdict:              # on a branch
    FORESEEN = 0
    LATE = 1                     # its direction was, its target only when it was decoded
    MISPREDICTED = 2


cdef class FlowPredictor:
    cdef TagStore targets        # branches whose targets are known
    cdef uint64_t* target_of     # by place
    cdef uint8_t* bimodal        # counters of two bits
    cdef uint8_t* shared         # ... that the history chooses among
    cdef uint8_t* chooser        # ... of which of the two: 2 and 3 the shared one
    cdef uint64_t* indirect      # targets by address and path
    cdef uint64_t bimodal_mask, shared_mask, history_mask, indirect_mask
    cdef uint64_t history        # of conditional branches
    cdef uint64_t path           # of taken ones, with the one at hand; before: without it
    cdef uint64_t before
    cdef ReturnStack returns

    cdef Verdict follow(self, uint8_t kind, uint64_t address, uint64_t behind, uint64_t target,
                        int64_t* place) noexcept nogil
    cdef bint known_target(self, uint64_t address, uint64_t target, int64_t* place) noexcept nogil
    cdef bint indirect_target(self, uint64_t address, uint64_t target, int64_t* place) noexcept nogil


cdef inline bint foresees(FlowPredictor self, uint64_t hash, bint taken) noexcept nogil:
    """Whether the direction of a branch was foreseen, whose address has a hash; the counters and the history learn it."""
    cdef uint8_t* own = &self.bimodal[hash & self.bimodal_mask]
    cdef bint alone = own[0] >> 1, together
    cdef uint8_t* other
    cdef uint8_t* choice
    train(own, taken)
    if self.shared == NULL:
        return alone == taken
    other = &self.shared[(hash ^ self.history) & self.shared_mask]
    choice = &self.chooser[hash & self.shared_mask]
    together = other[0] >> 1
    self.history = (self.history << 1 | taken) & self.history_mask
    train(other, taken)
    if alone == together:
        return alone == taken
    alone = together if choice[0] >> 1 else alone
    train(choice, together == taken)
    return alone == taken
