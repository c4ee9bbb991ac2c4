"""Timing of blocks: see timing.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t

from pfmon.machine.branch_registers cimport BranchRegisters
from pfmon.machine.code cimport MOST_CODE, Plan, Plans
from pfmon.machine.coherence cimport SnoopedCaches
from pfmon.machine.fetch cimport InstructionFetch
from pfmon.machine.items cimport BlockItems, Items
from pfmon.machine.l2 cimport L2
from pfmon.machine.memo cimport Memo, Node
from pfmon.machine.memory cimport DataMemory
from pfmon.machine.pipeline cimport Pipeline
from pfmon.machine.run cimport Run, Told
from pfmon.machine.predictor cimport BranchPredictor
from pfmon.machine.records cimport Records
from pfmon.machine.repeating cimport Repeating

cdef enum:
    MOST_HELD = MOST_CODE + 1    # words of a block and its addresses
    MOST_MARKS = 512


cdef class Timing(Repeating):
    cdef bint memoize
    cdef uint64_t thread_id      # set in all data addresses passed to the mechanisms
    cdef uint64_t code_id        # ... of code
    cdef uint64_t held[MOST_HELD]
    cdef const uint64_t* block   # word of the block that waits for its marks and for the next one; NULL: none
    cdef const Plan* plan        # of it
    cdef uint64_t block_count    # its words
    cdef uint64_t marks[MOST_MARKS]
    cdef uint32_t mark_count
    cdef BranchRegisters branch_registers
    cdef uint64_t last           # number of the block that ran last
    cdef SnoopedCaches snooped   # this core's caches, snooped by another one; None: there is none

    cdef void block_ran(self, uint64_t next_ip) noexcept nogil
    cdef uint64_t predict(self, const Plan* plan, Run* run, uint64_t next_ip) noexcept nogil
    cdef bint give_time(self, const Plan* plan, Run* run, uint64_t outcome, bint known) noexcept nogil
    cdef void follow_branch_registers(self, const Plan* plan, Run* run, uint64_t next_ip) noexcept nogil
    cdef void leave_answers(self, uint64_t number) noexcept nogil
    cdef void look_for_losses(self) noexcept nogil
    cdef void take_marks(self, const Plan* plan, Told* told) noexcept nogil
    cdef void show_items(self, uint32_t marks) noexcept nogil
    cdef void find_ranged(self, const Plan* plan, Run* run) noexcept nogil
    cdef void follow_frames(self, const Plan* plan, const Run* run) noexcept nogil
    cdef void flush_behind(self, const Plan* plan, const Run* run) noexcept nogil
    cdef void apply_marks(self, const Plan* plan, uint64_t number) noexcept nogil
    cdef void leave_interruption(self, const Plan* plan, uint64_t number, uint32_t instruction, uint64_t mark) noexcept nogil
    cdef void apply_late_marks(self) noexcept nogil
    cdef void give_hints(self, const Plan* plan, const Run* run, uint64_t next_ip) noexcept nogil
