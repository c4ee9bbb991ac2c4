"""The pipeline: see pipeline.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from pfmon.machine.code cimport Plan, Step
from pfmon.machine.fetch cimport InstructionFetch
from pfmon.machine.frames cimport Frames
from pfmon.machine.memory cimport DataMemory
from pfmon.machine.notes cimport Notes
from pfmon.machine.predictor cimport BranchPredictor, Prediction
from pfmon.machine.ranges cimport Ranges
from pfmon.machine.records cimport Records
from pfmon.machine.scoreboard cimport Scoreboard
from pfmon.machine.state cimport MOST_WAITS, OpenPart, State, Use, Wait

cdef struct Run:                 # a block that ran
    uint64_t number
    uint64_t word                # of the stream
    const uint64_t* addresses    # of its memory accesses
    uint64_t ranged[2]           # by access: in the data ranges
    uint64_t failed[2]           # by instruction: a check load that found no entry in the ALAT
    Prediction prediction        # of its branch, if it has one
    uint64_t next_ip
    uint8_t taken                # its last instruction branched
    uint8_t quick                # all of it went as the memo may know it
    uint32_t made                # accesses that were made before the block is simulated: quick or plain
    uint64_t plain               # by access: integer loads that L2 served in its latency
    uint64_t slow_window         # the first window that the front end has to wait for

cdef class Pipeline:
    cdef DataMemory data
    cdef InstructionFetch fetch
    cdef BranchPredictor predictor
    cdef readonly Records records
    cdef Notes notes
    cdef Scoreboard board
    cdef Frames frames
    cdef Ranges ranges

    cdef int64_t now             # cycle of the last issue
    cdef int64_t earliest        # next cycle in which something can issue
    cdef bint open
    cdef Use use
    cdef OpenPart part
    cdef uint8_t left_over
    cdef uint64_t window
    cdef int64_t front           # cycle from which `window` can be dispersed
    cdef int32_t front_bubbles
    cdef int64_t unat_written    # cycle in which the last st8.spill has written its bit of ar.unat
    cdef uint32_t front_cause    # of these
    cdef Wait waits[MOST_WAITS]
    cdef uint32_t wait_count

    # figures
    cdef int64_t mispredict, exception, failed_check, serialize, early_address, rse_rate
    cdef int64_t buffer_windows
    cdef int64_t nat_window
    cdef uint32_t m_ports

    # while a group is formed
    cdef int64_t start, need, stalled
    cdef uint32_t need_step, need_cause
    cdef uint32_t why
    cdef uint32_t access         # number of the next access of the run

    cdef void run(self, const Plan* plan, const Run* run) noexcept nogil
    cdef void stall(self, uint64_t number, uint32_t instruction, uint32_t cause, int64_t cycles) noexcept nogil
    cdef void close(self, uint32_t why, const Plan* plan, uint32_t next_step) noexcept nogil
    cdef void flush(self, uint64_t number, uint32_t cause, int64_t cycles) noexcept nogil
    cdef void rotate(self) noexcept nogil
    cdef bint save(self, State* state) noexcept nogil
    cdef void restore(self, const State* state) noexcept nogil

    cdef uint32_t form(self, const Plan* plan, const Run* run, uint32_t first) noexcept nogil
    cdef void await_operands(self, const Step* step, uint32_t number, bint executed) noexcept nogil
    cdef void deliver(self, const Run* run, const Step* step, uint32_t number) noexcept nogil
    cdef void issue(self, const Plan* plan, const Run* run, uint32_t first, uint32_t beyond) noexcept nogil
    cdef void wait_for(self, const Run* run, uint32_t number, int64_t until, uint32_t front,
                       int64_t cycles) noexcept nogil
    cdef void fill_buffer(self, uint64_t number) noexcept nogil
    cdef void loose_notes(self, uint64_t number, uint32_t instruction) noexcept nogil
    cdef void account_ideal(self, const Run* run, uint32_t number, int64_t until) noexcept nogil
    cdef void account_waits(self, const Run* run, uint32_t instruction) noexcept nogil
    cdef int64_t reach(self, const Step* step, const Run* run, uint32_t number, uint64_t address) noexcept nogil
    cdef void await_unat(self, const Step* step, const Run* run, uint32_t number) noexcept nogil
    cdef void rse(self, uint64_t number, uint32_t instruction, uint32_t registers, uint64_t address,
                  uint32_t cause) noexcept nogil
