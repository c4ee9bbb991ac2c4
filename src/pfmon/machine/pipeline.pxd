"""The pipeline: see pipeline.pyx."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from pfmon.machine.code cimport MOST_CODE, Plan, Step
from pfmon.machine.frames cimport Frames
from pfmon.machine.front_end cimport FrontEnd
from pfmon.machine.loose_notes cimport LOOSE_PARTS, Loose
from pfmon.machine.memory cimport DataMemory
from pfmon.machine.notes cimport Notes
from pfmon.machine.predictor cimport BranchPredictor
from pfmon.machine.ranges cimport Ranges
from pfmon.machine.records cimport Records
from pfmon.machine.run cimport Run
from pfmon.machine.scoreboard cimport Scoreboard
from pfmon.machine.script cimport Script
from pfmon.machine.served cimport Served
from pfmon.machine.state cimport OpenPart, State, Use
from pfmon.machine.thread_switch cimport ThreadSwitch
from pfmon.machine.watch cimport Watch

cdef enum:
    MOST_ACCESSES = 256          # of a block (stream/table.pxd, MOST_LENGTH)

cdef class Pipeline:
    cdef DataMemory data
    cdef BranchPredictor predictor
    cdef readonly Records records
    cdef FrontEnd front_end
    cdef Notes notes
    cdef Scoreboard board
    cdef Frames frames
    cdef Ranges ranges
    cdef Watch watch             # None: no listener
    cdef ThreadSwitch switch     # None: the core runs one thread
    cdef Script script           # of the current block
    cdef Loose loose[LOOSE_PARTS]    # loose_notes.pyx

    cdef int64_t now             # cycle of the last issue
    cdef int64_t earliest        # next cycle in which something can issue
    cdef bint open
    cdef Use use
    cdef OpenPart part
    cdef uint8_t left_over
    cdef int64_t unat_written    # cycle in which the last st8.spill has written its bit of ar.unat
    cdef int64_t steered[8]      # by branch register: cycle from which fetch uses its value
    cdef bint wrong_target       # the branch of the run was predicted by an earlier value of its branch register

    # figures
    cdef int64_t system_call, fault, task_switch     # cycles of the operating system
    cdef int64_t mispredict, exception, failed_check, serialize, early_address, rse_rate
    cdef int64_t nat_window, register_write
    cdef uint32_t m_ports

    cdef int64_t owed            # cycles of a thread switch that are not recorded yet
    cdef bint switched           # other threads ran within the current block

    # while a group is formed
    cdef int64_t start, need, stalled
    cdef uint32_t need_step, need_cause
    cdef uint32_t why
    cdef uint32_t access         # number of the next access of the run
    cdef int64_t began           # `now` before the run
    cdef uint32_t issued[MOST_ACCESSES]  # by access performed earlier (run.made): cycles until it issued
    cdef uint32_t allocs[2 * MOST_CODE]  # by alloc of the current block: cycles until it issued, size of its frame
    cdef uint32_t alloc_count            # number of those that have issued

    cdef void run(self, const Plan* plan, const Run* run) noexcept nogil
    cdef void stall(self, uint64_t number, uint32_t instruction, uint32_t cause, int64_t cycles) noexcept nogil
    # Spends cycles in the operating system, before an instruction; `flush`: after a flush of the pipeline.
    cdef void enter_kernel(self, uint64_t number, uint32_t instruction, int64_t cycles, int64_t flush) noexcept nogil
    cdef void close(self, uint32_t why, const Plan* plan, uint32_t next_step) noexcept nogil
    cdef void flush(self, uint64_t number, uint32_t cause, int64_t cycles) noexcept nogil
    cdef void rotate(self) noexcept nogil
    cdef bint save(self, State* state) noexcept nogil
    cdef void restore(self, const State* state) noexcept nogil

    cdef uint32_t form(self, const Plan* plan, const Run* run, uint32_t first) noexcept nogil
    cdef void await_operands(self, const Step* step, uint32_t number, bint executed) noexcept nogil
    cdef void issue(self, const Plan* plan, const Run* run, uint32_t first, uint32_t beyond) noexcept nogil
    cdef int64_t reach(self, const Step* step, const Run* run, uint32_t number, uint64_t address) noexcept nogil
    cdef void fence(self, const Run* run, uint32_t number) noexcept nogil
    cdef void resize_frame(self, const Step* step, int64_t issued) noexcept nogil
    # An instruction made the pipeline stand still behind its issue.
    cdef void stand(self, const Run* run, uint32_t number, const Served* served) noexcept nogil
    cdef void show(self, uint64_t block, uint32_t instruction, uint64_t address, const Served* served,
                   bint of_stack) noexcept nogil
    cdef void show_made(self, const Step* step, const Run* run, uint32_t number, uint32_t access,
                        int64_t issued) noexcept nogil
    cdef void await_unat(self, const Step* step, const Run* run, uint32_t number) noexcept nogil
