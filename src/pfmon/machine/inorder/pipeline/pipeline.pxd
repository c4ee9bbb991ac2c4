"""The pipeline: see pipeline.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t


cdef enum:
    MAX_BLOCK_ACCESSES = 256     # of a block (stream/block_table.pxd, MAX_BLOCK_LENGTH)

@cython.final
cdef class Pipeline:
    cdef DataMemory data
    cdef BranchPredictor predictor
    cdef readonly Records records
    cdef FrontEnd front_end
    cdef EventLog event_log
    cdef Scoreboard board
    cdef Frames frames
    cdef DataRanges ranges
    cdef CaptureListener listener  # None: no listener
    cdef ThreadSwitch switch     # None: the core runs one thread
    cdef AccessLog access_log    # of the current block
    cdef UnattributedPart unattributed[UNATTRIBUTED_PARTS]  # unattributed_events.pxd

    cdef int64_t now             # cycle of the last issue
    cdef int64_t earliest        # next cycle in which something can issue
    cdef bint open
    cdef PortUse use
    cdef OpenPart part
    cdef uint8_t left_over
    cdef int64_t unat_written    # cycle in which the last st8.spill has written its bit of ar.unat
    cdef int64_t br_ready[8]     # by branch register: cycle from which fetch uses its value
    cdef bint wrong_target       # the branch of the run was predicted by an earlier value of its branch register

    # figures
    cdef int64_t system_call, fault, task_switch     # cycles of the operating system
    cdef int64_t mispredict, exception, failed_check, serialize, early_address, rse_rate
    cdef int64_t nat_window, register_write
    cdef uint32_t m_ports

    cdef int64_t owed            # cycles of a thread switch that are not recorded yet
    cdef bint switched           # other threads ran within the current block
    cdef bint entered_kernel     # ... the operating system did

    # while a group is formed
    cdef int64_t start, need, stalled
    cdef uint32_t need_step, need_cause
    cdef uint32_t why
    cdef uint32_t access         # number of the next access of the run
    cdef int64_t began           # `now` before the run
    cdef uint32_t issued[MAX_BLOCK_ACCESSES]  # by access performed earlier (run.made): cycles until it issued
    cdef uint32_t allocs[2 * MAX_PLAN_LENGTH]  # by alloc of the block: cycles until it issued, size of its frame
    cdef uint32_t alloc_count            # number of those that have issued

    cdef void run(self, const BlockPlan* plan, const BlockExecution* run) noexcept nogil
    cdef void stall(self, uint64_t number, uint32_t instruction, uint32_t cause, int64_t cycles) noexcept nogil
    # Spends cycles in the operating system after a block: a system call, a fault, a switch of program threads.
    cdef void interrupt(self, uint64_t number, int64_t cycles) noexcept nogil
    # Stops while the operating system runs, before an instruction; `flush`: after a flush of the pipeline. The caller
    # has added the stay to the clock of user level.
    cdef void enter_kernel(self, uint64_t number, uint32_t instruction, int64_t cycles, int64_t flush) noexcept nogil
    cdef void close(self, uint32_t why, const BlockPlan* plan, uint32_t next_step) noexcept nogil
    cdef void flush(self, uint64_t number, uint32_t cause, int64_t cycles) noexcept nogil
    cdef void rotate(self) noexcept nogil
    # Records the noted events as those of an instruction, of no cycle with an issue.
    cdef void record_unattributed(self, uint64_t number, uint32_t instruction) noexcept nogil
    cdef bint save(self, PipelineState* state) noexcept nogil
    cdef void restore(self, const PipelineState* state) noexcept nogil

    cdef uint32_t form(self, const BlockPlan* plan, const BlockExecution* run, uint32_t first) noexcept nogil
    cdef void await_operands(self, const PipelineOp* step, uint32_t number, bint executed) noexcept nogil
    cdef void issue(self, const BlockPlan* plan, const BlockExecution* run, uint32_t first,
                    uint32_t beyond) noexcept nogil
    cdef void record_marks(self, const PipelineOp* step, const BlockExecution* run, uint32_t number) noexcept nogil
    cdef int64_t mem_access(self, const PipelineOp* step, const BlockExecution* run, uint32_t number,
                            uint64_t address) noexcept nogil
    cdef void fence(self, const BlockExecution* run, uint32_t number) noexcept nogil
    cdef void resize_frame(self, const PipelineOp* step, int64_t issued) noexcept nogil
    # Stalls the pipeline after the issue of an instruction.
    cdef void stall_after_issue(self, const BlockExecution* run, uint32_t number,
                                const AccessResult* served) noexcept nogil
    cdef void notify_access(self, uint64_t block, uint32_t instruction, uint64_t address, const AccessResult* served,
                   bint of_stack) noexcept nogil
    cdef void report_made(self, const PipelineOp* step, const BlockExecution* run, uint32_t number, uint32_t access,
                        int64_t issued) noexcept nogil
    cdef void await_unat(self, const PipelineOp* step, const BlockExecution* run, uint32_t number) noexcept nogil
