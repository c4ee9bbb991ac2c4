"""Branch prediction: interface of the predictors."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t

from pfmon.isa.ia64._encodings cimport (
    BRANCH_CALL, BRANCH_CLOOP, BRANCH_CTOP, BRANCH_INDIRECT, BRANCH_INDIRECT_CALL, BRANCH_LONG_CALL, BRANCH_RELATIVE,
    BRANCH_RETURN, BRANCH_WTOP, DYNAMIC_NOT_TAKEN, DYNAMIC_TAKEN, STATIC_NOT_TAKEN, STATIC_TAKEN)

cdef struct Branch:              # static properties of a branch
    uint64_t address             # bundle | slot
    uint64_t fall_through        # address of the bundle after its own
    uint64_t target              # of an IP-relative one
    uint8_t kind                 # BranchKind
    uint8_t conditional          # its qualifying predicate is not p0, or it counts
    uint8_t whether              # its hint (Whether)
    uint8_t many                 # sequential prefetch hint: .many
    uint8_t clear                # deallocation hint: .clr
    uint8_t multiway             # its bundle holds more than one branch
    uint8_t through              # of an indirect one: number of its branch register + 1
    # from these (place_branch):
    uint8_t usual                # of the most frequent kind: IP-relative, and predicted by its history
    uint8_t slot                 # 0-5: in its window of 32 bytes, bundle * 3 + slot
    uint32_t number              # number of its syllable in the address space

cdef enum PredictionFlag:
    PREDICTED_TAKEN = 1
    WRONG_PATH = 2               # mispredicted direction; this one and the next two: PredictionCode, shifted by one
    WRONG_TARGET = 4             # correctly predicted taken, to a wrong target
    UNKNOWN_PATH = 8             # an earlier branch of its bundle was predicted taken: never looked up
    EARLIER_TARGET = 16          # its branch register held another target before: WRONG_TARGET if fetch used that

cdef enum PredictionCode:        # fields of `Prediction.code`
    CODE_WRONG_PATH = 1
    CODE_WRONG_TARGET = 2
    CODE_UNKNOWN_PATH = 4
    CODE_OVERSUBSCRIBED = 8      # the first-level store had no room for the branch besides others of its window
    CODE_FIRST_STAGE = 16        # the deciding stage of Itanium's predictor, if it was not the second
    CODE_THIRD_STAGE = 32

# Result of a branch in one word, a part of the memo's keys: code (PredictionCode), flags (PredictionFlag), bubbles
# (cycles that the front end loses to a correct prediction that comes late), whether it was taken, cause of the bubbles
# (stall_causes.pxd, FrontCause). 0: there was no branch.
ctypedef uint64_t Prediction

cdef enum:
    FLAGS_SHIFT = 8
    BUBBLES_SHIFT = 16
    TAKEN_SHIFT = 32
    CAUSE_SHIFT = 40
    PREDICTION_BITS = 48


cdef inline Prediction prediction(uint32_t code, bint predicted, bint taken, uint32_t bubbles,
                                  uint32_t cause) noexcept nogil:
    """``predicted``: as taken."""
    cdef uint64_t wrong = code & (CODE_WRONG_PATH | CODE_WRONG_TARGET | CODE_UNKNOWN_PATH)
    cdef uint64_t flags = predicted * PREDICTED_TAKEN | wrong << 1
    return (code | flags << FLAGS_SHIFT | <uint64_t>bubbles << BUBBLES_SHIFT | <uint64_t>taken << TAKEN_SHIFT
            | <uint64_t>cause << CAUSE_SHIFT)


cdef inline uint32_t code_of(Prediction prediction) noexcept nogil:
    return prediction & 0xFF


cdef inline uint32_t flags_of(Prediction prediction) noexcept nogil:
    return prediction >> FLAGS_SHIFT & 0xFF


cdef inline uint32_t bubbles_of(Prediction prediction) noexcept nogil:
    return prediction >> BUBBLES_SHIFT & 0xFFFF


cdef inline uint32_t bubble_cause_of(Prediction prediction) noexcept nogil:
    return prediction >> CAUSE_SHIFT & 0xFF


cdef inline void place_branch(Branch* branch) noexcept nogil:
    """Sets the fields that follow from the branch's address, kind and hint."""
    branch.usual = branch.kind == BRANCH_RELATIVE and branch.whether >= DYNAMIC_TAKEN
    branch.slot = <uint8_t>((branch.address >> 4 & 1) * 3 + (branch.address & 3))
    branch.number = <uint32_t>((branch.address >> 4) * 3 + (branch.address & 3))


cdef enum PredictionOutcome:     # order of the occurrences PREDICTED_*
    CORRECT_NOT_TAKEN = 0
    CORRECT_TAKEN
    WRONG_PATH_NOT_TAKEN
    WRONG_PATH_TAKEN
    WRONG_TARGET_TAKEN
    UNKNOWN_NOT_TAKEN            # predicted not taken because an earlier branch was predicted taken: right
    UNKNOWN_TAKEN                # ... wrong
    OUTCOMES


cdef inline uint32_t outcome(bint taken, uint32_t code) noexcept nogil:
    if code & CODE_UNKNOWN_PATH:
        return UNKNOWN_TAKEN if taken else UNKNOWN_NOT_TAKEN
    if code & CODE_WRONG_PATH:
        return WRONG_PATH_TAKEN if taken else WRONG_PATH_NOT_TAKEN
    if code & CODE_WRONG_TARGET:
        return WRONG_TARGET_TAKEN
    return CORRECT_TAKEN if taken else CORRECT_NOT_TAKEN


cdef inline bint is_call(uint8_t kind) noexcept nogil:
    return kind == BRANCH_CALL or kind == BRANCH_LONG_CALL or kind == BRANCH_INDIRECT_CALL


cdef inline bint is_indirect(uint8_t kind) noexcept nogil:
    return kind == BRANCH_INDIRECT or kind == BRANCH_INDIRECT_CALL


cdef inline bint is_counted(uint8_t kind) noexcept nogil:
    return kind == BRANCH_CLOOP or kind == BRANCH_CTOP


cdef class BranchPredictor:
    """Direction and target prediction, return stack, loop predictor. A policy is a subclass (predictor_registry.py)."""

    cdef bint reads_registers    # indirect branches are predicted by their branch register; otherwise by the policy

    # Predicts the branch, compares, trains. ``target``: its target if it was taken.
    cdef Prediction run(self, const Branch* branch, bint taken, uint64_t target) noexcept nogil
    # Records the occurrences of a branch with this outcome.
    cdef void record_outcome(self, EventLog* event_log, const Branch* branch, bint taken, uint32_t code) noexcept nogil
    # Applies the target hint of brp or a move to a branch register for the branch in the bundle at ``address``.
    cdef void hint(self, uint64_t address, uint64_t target, bint important) noexcept nogil
    # The line at ``address`` (bytes, a multiple of 32) has left L1I: drops the state of its branches.
    cdef void on_line_evicted(self, uint64_t address, uint32_t bytes) noexcept nogil
    # Returns the target that it predicts for the next return.
    cdef uint64_t next_return(self) noexcept nogil
    # Switches hardware threads: each has a return stack of its own (Montecito manual 2.4). The predictor's is exchanged
    # with ``stack``.
    cdef void exchange_returns(self, ReturnStack* stack) noexcept nogil
    @cython.final
    cdef void _describe(self, Branch* branch, uint64_t address, uint64_t target, uint8_t kind, uint8_t whether,
                        uint64_t fall_through, bint clear, bint multiway, bint conditional) noexcept
