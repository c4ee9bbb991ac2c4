"""Effects of marks: see mark_effects.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


# Reads marks needed before the block is simulated: failed checks, deferred loads, tiny results.
cdef void collect_marks(const HeldBlock* held, BlockMarks* block_marks) noexcept nogil

# Whether mark number ``i`` is a walk of this side; the walk.
cdef bint is_walk_of(const HeldBlock* held, uint32_t i, uint32_t side) noexcept nogil
cdef Walk walk_of(const HeldBlock* held, uint32_t i) noexcept nogil

cdef enum:                       # bit 0 of a WALK
    WALK_OF_CODE = 0
    WALK_OF_DATA = 1


@cython.final
cdef class MarkEffects:
    cdef Pipeline pipeline
    cdef MemoReplay replay
    cdef CaptureReporting captures
    cdef uint64_t thread_id      # set in all data addresses passed to the mechanisms
    cdef PhysicalAddresses pages # of a whole system; None: a program's

    # Stalls or flushes the pipeline after a block, by its marks, which are consumed.
    cdef void apply(self, const BlockPlan* plan, uint64_t number, HeldBlock* held, uint64_t next_ip) noexcept nogil
    cdef void apply_stack_mark(self, const BlockPlan* plan, uint64_t number, const HeldBlock* held,
                               uint32_t i) noexcept nogil
    cdef void move_registers(self, uint64_t number, uint32_t instruction, uint32_t registers, uint64_t address,
                             uint32_t cause) noexcept nogil
    cdef void follow_walk(self, const BlockPlan* plan, uint64_t number, const HeldBlock* held, uint32_t i) noexcept nogil
    cdef void purge_translations(self, uint64_t number, const HeldBlock* held, uint32_t i) noexcept nogil
    cdef void interrupt(self, const BlockPlan* plan, uint64_t number, const HeldBlock* held, uint32_t i) noexcept nogil
    cdef void record_interruption(self, const BlockPlan* plan, uint64_t number, uint64_t mark) noexcept nogil
