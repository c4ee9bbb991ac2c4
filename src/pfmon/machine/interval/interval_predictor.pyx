"""Branch prediction: direction, targets, returns.

Direction (`predictor.kind`): ``bimodal`` is a table of two-bit counters by address; ``hybrid`` has a second one,
indexed by the address and the outcomes of the latest conditional branches (gshare), and a third that selects the one
that was right more often; `predictor.loops` branches have loop counters (loop_counters.pyx). ``tage`` has tables by
address and path (tage_predictor.pyx). Targets of direct branches are in a target buffer: a missing one is known at
decode, which takes `predictor.redirect` cycles. Targets of indirect ones are predicted by path, if `predictor.indirect` gives a table
for it, else as the last time. Returns use the return stack; without one they are indirect branches.
"""

cimport cython
from libc.stdlib cimport calloc, free

from pfmon.stream._stream cimport BranchKind

cdef uint8_t* counters(uint64_t count) except NULL:
    """Makes counters that weakly predict not taken."""
    cdef uint8_t* made = <uint8_t*>calloc(count, 1)
    cdef uint64_t i
    if made == NULL:
        raise MemoryError
    for i in range(count):
        made[i] = 1
    return made


@cython.final
cdef class IntervalPredictor:
    """``config``: the figures of the table ``predictor``."""

    def __cinit__(self, config):
        entries, ways = config["predictor.targets"], config["predictor.target_ways"]
        self.direct_targets = True
        self.targets = LruSets(entries // ways, ways, 0)
        self.returns.depth = config["predictor.return_stack"]
        if config["predictor.kind"] == "tage":
            self.tage, self.by_path = TagePredictor(config), True
            return
        self.bimodal_mask = config["predictor.counters"] - 1
        self.bimodal = self.shared = counters(self.bimodal_mask + 1)
        self.shared_mask = self.bimodal_mask
        if config["predictor.kind"] == "hybrid":
            self.shared_mask = config["predictor.shared"] - 1
            self.history_mask = (1 << config["predictor.history"]) - 1
            self.shared, self.chooser = counters(self.shared_mask + 1), counters(self.shared_mask + 1)
            if config["predictor.loops"]:
                self.counts_loops = True
                self.loops = LoopCounters(config["predictor.loops"], config["predictor.loop_length"])
        if config["predictor.indirect"]:
            self.indirect_mask = config["predictor.indirect"] - 1
            self.indirect = <uint64_t*>calloc(self.indirect_mask + 1, sizeof(uint64_t))
            if self.indirect == NULL:
                raise MemoryError

    def __dealloc__(self):
        if self.shared != self.bimodal:
            free(self.shared)
        free(self.bimodal)
        free(self.chooser)
        free(self.indirect)

    cdef bint train_counters(self, uint64_t hash, uint8_t* own, uint8_t* other, bint taken) noexcept nogil:
        """Predicts the direction of a branch by counters and trains them; returns whether it was right. Branchless on
        the outcome: the host would mispredict as the program's own processor does."""
        cdef uint8_t* choice
        cdef uint8_t alone = own[0] >> 1, together = other[0] >> 1, differ, right
        own[0] = stepped(own[0], taken)
        if self.chooser == NULL:
            return alone == taken
        choice = &self.chooser[hash & self.shared_mask]
        self.history = (self.history << 1 | taken) & self.history_mask
        other[0] = stepped(other[0], taken)
        differ, right = alone ^ together, choice[0] >> 1
        choice[0] ^= (choice[0] ^ stepped(choice[0], together == taken)) & (0 - differ)
        if self.counts_loops:
            return predict_loop(self.loops, hash, alone ^ differ & right, taken) == taken
        return (alone ^ differ & right) == taken

    cdef BranchVerdict follow(self, uint8_t kind, uint64_t address, uint64_t behind, uint64_t target) noexcept nogil:
        """Predicts the target of a branch correctly predicted taken; trains. ``behind``: the address after it."""
        cdef BranchVerdict found = self.verdict(kind, address, behind, target)
        follow_path(self, address, target)
        return found

    cdef BranchVerdict verdict(self, uint8_t kind, uint64_t address, uint64_t behind, uint64_t target) noexcept nogil:
        if kind == BranchKind.DIRECT_CALL or kind == BranchKind.INDIRECT_CALL:
            if self.returns.depth:
                push_return(&self.returns, behind)
        if kind == BranchKind.RETURN_BRANCH and self.returns.depth:
            return BranchVerdict.FORESEEN if pop_return(&self.returns) == target else BranchVerdict.MISPREDICTED
        if kind == BranchKind.INDIRECT_JUMP or kind == BranchKind.INDIRECT_CALL or kind == BranchKind.RETURN_BRANCH:
            return BranchVerdict.FORESEEN if self.indirect_target(address, target) else BranchVerdict.MISPREDICTED
        if not self.direct_targets:
            return BranchVerdict.FORESEEN
        return BranchVerdict.FORESEEN if self.known_target(address, target) else BranchVerdict.LATE

    cdef void take_unforeseen(self, uint64_t address, uint64_t target) noexcept nogil:
        """Trains with a taken branch whose direction was mispredicted."""
        if self.direct_targets:
            self.known_target(address, target)
        follow_path(self, address, target)

    cdef bint known_target(self, uint64_t address, uint64_t target) noexcept nogil:
        """Whether the target buffer has this branch with this target; enters it."""
        cdef LruLine evicted
        cdef LruLine* found = use_line(&self.targets.rows, address)
        cdef bint known
        if found == NULL:
            found = insert_line(&self.targets.rows, address, &evicted)
        known = found.ready == <int64_t>target
        found.ready = <int64_t>target
        return known

    cdef bint indirect_target(self, uint64_t address, uint64_t target) noexcept nogil:
        """Whether the target of an indirect branch was predicted; trains."""
        cdef uint64_t* entry
        cdef bint known
        if self.by_path:
            return self.tage.indirect_target(address, target)
        if self.indirect == NULL:
            return self.known_target(address, target)
        entry = &self.indirect[(address ^ self.path ^ self.path >> 11) & self.indirect_mask]
        known = entry[0] == target
        entry[0] = target
        return known

    # For tests.

    def direction(self, address: int, taken: bool) -> bool:
        """Whether the direction of a conditional branch is predicted."""
        return predict_direction(self, branch_hash(address), taken)

    def target(self, kind: int, address: int, behind: int, target: int) -> int:
        """The verdict for the target of a taken branch."""
        return self.follow(kind, address, behind, target)
