"""Notification of a machine's listeners: see capture_reporting.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef class CaptureReporting(SwitchedThread):
    cdef readonly BlockPlans plans
    cdef readonly Records records
    cdef readonly Pipeline pipeline
    cdef readonly L2 l2
    cdef readonly DataMemory data
    cdef readonly InstructionFetch fetch
    cdef readonly BranchPredictor predictor
    cdef readonly Memo memo
    cdef uint32_t state          # number of the pipeline's state in the memo; 0: it is in the pipeline itself
    cdef int64_t now             # as Pipeline.now, also during replay
    cdef CaptureListener listener  # capture listener for the event set in force; None: there is none
    cdef RecordObserver observer  # observer of the records; None: there is none
    cdef uint64_t arrived        # address reached after the block whose branch was reported last
    cdef const MemoNode* ran     # the memo's node that the current block was replayed from; NULL: it was simulated

    @cython.final
    cdef int set_listener(self, CaptureListener listener) except -1
    @cython.final
    cdef void report_repeated(self, const BlockPlan* plan, const BlockExecution* run, const uint32_t* issued,
                            int64_t began) noexcept nogil
    @cython.final
    cdef void report_branch(self, const BlockPlan* plan, const BlockExecution* run, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef void report_mark(self, const BlockPlan* plan, uint64_t number, uint64_t mark) noexcept nogil
    @cython.final
    cdef void record_captures(self) noexcept nogil
    @cython.final
    cdef bint is_second(self, const Captured* one) noexcept nogil
    @cython.final
    cdef bint issued_second(self, uint64_t code, uint32_t before, uint64_t block, uint32_t instruction,
                            bint* found) noexcept nogil
    @cython.final
    cdef void record_unattributed(self, uint64_t number, uint32_t instruction) noexcept nogil
