"""Branch prediction: what the pipeline asks, and what it learns."""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t

from pfmon.machine.notes cimport Notes

cdef enum BranchKind:            # what the PMU's branch events tell apart, and how a branch is predicted
    BRANCH_RELATIVE = 0          # br.cond, IP-relative
    BRANCH_CALL = 1              # br.call, IP-relative
    BRANCH_RETURN = 2
    BRANCH_INDIRECT = 3          # br.cond through a branch register
    BRANCH_INDIRECT_CALL = 4
    BRANCH_CLOOP = 5             # counted loops: br.cloop, ctop, cexit
    BRANCH_WTOP = 6              # br.wtop, wexit
    BRANCH_LONG = 7              # brl
    BRANCH_LONG_CALL = 8

cdef struct Branch:              # what is known of a branch before it runs
    uint64_t address             # bundle | slot
    uint64_t fall_through        # address of the bundle behind its own
    uint64_t target              # of an IP-relative one
    uint8_t kind
    uint8_t conditional          # its qualifying predicate is not p0, or it counts
    uint8_t whether              # its hint: 0 sptk, 1 spnt, 2 dptk, 3 dpnt
    uint8_t many                 # sequential prefetch hint: .many
    uint8_t clear                # deallocation hint: .clr
    uint8_t multiway             # its bundle holds more than one branch

cdef enum PredictionFlag:
    PREDICTED_TAKEN = 1
    WRONG_PATH = 2               # mispredicted direction
    WRONG_TARGET = 4             # rightly predicted taken, to a wrong target
    UNKNOWN_PATH = 8             # an earlier branch of its bundle was predicted taken: never looked up

cdef struct Prediction:
    uint32_t flags
    uint32_t bubbles             # cycles that the front end loses to a right prediction that comes late
    uint32_t code                # flags and what the records tell apart besides (predictor stage ...): < 256, 0 most often


cdef class BranchPredictor:
    """Path and target prediction, return stack, loop predictor."""

    # The branch ran: predict it, compare, learn. ``target``: where it went if it was taken.
    cdef void run(self, const Branch* branch, bint taken, uint64_t target, Prediction* out) noexcept nogil
    # The occurrences that a branch with this outcome stands for.
    cdef void note_outcome(self, Notes* notes, const Branch* branch, bint taken, uint32_t code) noexcept nogil
