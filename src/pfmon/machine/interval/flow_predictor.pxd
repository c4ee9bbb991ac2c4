"""Branch prediction of an out-of-order core: see flow_predictor.pyx."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

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

    cdef Verdict run(self, uint8_t kind, bint conditional, uint64_t address, uint64_t behind, bint taken,
                     uint64_t target) noexcept nogil
    cdef bint direction(self, uint64_t address, bint taken) noexcept nogil
    cdef bint known_target(self, uint64_t address, uint64_t target) noexcept nogil
    cdef bint indirect_target(self, uint64_t address, uint64_t target) noexcept nogil
