"""Branch prediction: the base of all policies. A policy is a subclass: predictor_two_level.pyx,
predictor_merced.pyx."""

from collections.abc import Mapping


cdef inline uint32_t first_outcome(uint8_t kind) noexcept nogil:
    if kind == BRANCH_RETURN:
        return PREDICTED_RETURN_CORRECT_NOT_TAKEN
    if kind == BRANCH_INDIRECT or kind == BRANCH_INDIRECT_CALL:
        return PREDICTED_INDIRECT_CORRECT_NOT_TAKEN
    return PREDICTED_RELATIVE_CORRECT_NOT_TAKEN


cdef class BranchPredictor:
    """Direction and target prediction, return stack, loop predictor.

    ``config``: the machine's figures by dotted name; each policy documents the ``predictor.*`` that it reads.
    """

    def __cinit__(self, config: Mapping):
        pass

    cdef Prediction run(self, const Branch* branch, bint taken, uint64_t target) noexcept nogil:
        return 0

    cdef void hint(self, uint64_t address, uint64_t target, bint important) noexcept nogil:
        pass

    cdef void exchange_returns(self, ReturnStack* stack) noexcept nogil:
        pass

    cdef uint64_t next_return(self) noexcept nogil:
        return 0

    cdef void on_line_evicted(self, uint64_t address, uint32_t bytes) noexcept nogil:
        pass

    cdef void record_outcome(self, EventLog* event_log, const Branch* branch, bint taken, uint32_t code) noexcept nogil:
        cdef uint32_t what = outcome(taken, code), wrong = 0
        record(event_log, first_outcome(branch.kind) + what, 1)
        if branch.multiway:
            record(event_log, PREDICTED_MULTIWAY_CORRECT_NOT_TAKEN + what, 1)
        if code & CODE_WRONG_PATH:
            wrong = 1
        elif code & CODE_WRONG_TARGET:
            wrong = 2
        if code & CODE_OVERSUBSCRIBED and first_outcome(branch.kind) == PREDICTED_RELATIVE_CORRECT_NOT_TAKEN:
            record(event_log, OVERSUBSCRIBED_CORRECT + (code & CODE_WRONG_PATH), 1)
        if branch.kind == BRANCH_RETURN and wrong == 2:
            record(event_log, MISPREDICTED_FRAME, 1)
        elif branch.kind == BRANCH_CTOP and wrong:
            record(event_log, MISPREDICTED_ROTATION, 1)
        elif branch.kind == BRANCH_WTOP and wrong:
            record(event_log, MISPREDICTED_STAGE, 1)

    def predict(self, address: int, taken: bool, target: int = 0, *, kind: int = 0, whether: int = DYNAMIC_NOT_TAKEN,
                fall_through: int = 0, clear: bool = False, multiway: bool = False, conditional: bool = True,
                relative: int = 0) -> tuple[int, int, int]:
        """Runs one branch: (flags, bubbles in cycles, code), as returned by `run`.

        ``address`` is bundle + slot; ``relative``: the target that is encoded, if the branch is not taken;
        ``whether``: 0 sptk, 1 spnt, 2 dptk, 3 dpnt; ``kind``: enum BranchKind of predictor.pxd.
        """
        cdef Branch branch
        cdef Prediction found
        self._describe(&branch, address, target if taken else relative, kind, whether, fall_through, clear, multiway,
                       conditional)
        found = self.run(&branch, taken, target)
        return flags_of(found), bubbles_of(found), code_of(found)

    def occurrences(self, taken: bool, code: int, *, kind: int = 0, multiway: bool = False) -> dict[Occurrence, int]:
        """Occurrences of a branch of this kind and outcome."""
        cdef Branch branch
        cdef EventLog event_log
        cdef uint32_t i
        self._describe(&branch, 0, 0, kind, 0, 0, False, multiway, True)
        event_log.count = 0
        event_log.context = 0
        self.record_outcome(&event_log, &branch, taken, code)
        return {Occurrence(event_log.items[i] & 0xFFFF): event_log.items[i] >> 16 & 0xFFFF
                for i in range(event_log.count)}

    def predict_target(self, address: int, target: int, important: bool = True) -> None:
        """Executes brp: predicts ``target`` for the branch in the bundle at ``address``."""
        self.hint(address, target, important)

    def evict_line(self, address: int, size: int) -> None:
        """Evicts the line of ``size`` bytes at ``address`` from L1I."""
        self.on_line_evicted(address, size)

    def repeat(self, address: int, target: int, times: int) -> int:
        """Mispredictions of a loop branch that is taken ``times`` times (for measurements of speed)."""
        cdef Branch branch
        cdef long i, count = times, wrong = 0
        self._describe(&branch, address, target, BRANCH_RELATIVE, DYNAMIC_TAKEN, address + 16, False, False, True)
        with nogil:
            for i in range(count):
                wrong += flags_of(self.run(&branch, True, branch.target)) & WRONG_PATH
        return wrong

    cdef void _describe(self, Branch* branch, uint64_t address, uint64_t target, uint8_t kind, uint8_t whether,
                        uint64_t fall_through, bint clear, bint multiway, bint conditional) noexcept:
        branch.address = address
        branch.fall_through = fall_through if fall_through else (address & ~<uint64_t>15) + 16
        branch.target = target
        branch.kind = kind
        branch.conditional = conditional
        branch.whether = whether
        branch.many = 0
        branch.clear = clear
        branch.multiway = multiway
        branch.through = 0
        place_branch(branch)
