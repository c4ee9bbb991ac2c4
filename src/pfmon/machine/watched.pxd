"""Notification of a machine's listeners: see watched.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.code cimport Plan, Plans
from pfmon.machine.fetch cimport InstructionFetch
from pfmon.machine.items cimport Items
from pfmon.machine.l2 cimport L2
from pfmon.machine.memo cimport Memo, Node
from pfmon.machine.memory cimport DataMemory
from pfmon.machine.pipeline cimport Pipeline
from pfmon.machine.predictor cimport BranchPredictor
from pfmon.machine.records cimport Records
from pfmon.machine.run cimport Run
from pfmon.machine.two_flows cimport SwitchedThread
from pfmon.machine.watch cimport Captured, Watch


cdef class Watched(SwitchedThread):
    cdef readonly Plans plans
    cdef readonly Records records
    cdef readonly Pipeline pipeline
    cdef readonly L2 l2
    cdef readonly DataMemory data
    cdef readonly InstructionFetch fetch
    cdef readonly BranchPredictor predictor
    cdef readonly Memo memo
    cdef uint32_t state          # number of the pipeline's state in the memo; 0: it is in the pipeline itself
    cdef int64_t now             # as Pipeline.now, also during replay
    cdef Watch watch             # capture listener for the event set in force; None: there is none
    cdef Items items             # observer of the records; None: there is none
    cdef uint64_t arrived        # address reached after the block whose branch was reported last
    cdef const Node* ran         # the memo's node that the current block was replayed from; NULL: it was simulated

    cdef int set_watch(self, Watch watch) except -1
    cdef void show_repeated(self, const Plan* plan, const Run* run, const uint32_t* issued,
                            int64_t began) noexcept nogil
    cdef void show_branch(self, const Plan* plan, const Run* run, uint64_t next_ip) noexcept nogil
    cdef void show_mark(self, const Plan* plan, uint64_t number, uint64_t mark) noexcept nogil
    cdef void leave_captures(self) noexcept nogil
    cdef bint is_second(self, const Captured* one) noexcept nogil
    cdef bint issued_second(self, uint64_t code, uint32_t before, uint64_t block, uint32_t instruction,
                            bint* found) noexcept nogil
    cdef void leave_notes(self, uint64_t number, uint32_t instruction) noexcept nogil
