"""Notification of a machine's capture listener: see capture_reporting.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


@cython.final
cdef class CaptureReporting:
    cdef BlockPlans plans
    cdef Pipeline pipeline
    cdef Records records
    cdef MemoReplay replay
    cdef CaptureListener listener  # of the event set in force; None: there is none
    cdef uint64_t arrived        # address reached after the block whose branch was reported last

    cdef int set_listener(self, CaptureListener listener) except -1
    cdef void report_repeated(self, const BlockPlan* plan, const BlockExecution* run, const uint32_t* issued,
                              int64_t began) noexcept nogil
    cdef void report_branch(self, const BlockPlan* plan, const BlockExecution* run, uint64_t next_ip) noexcept nogil
    cdef void report_mark(self, const BlockPlan* plan, uint64_t number, uint64_t mark,
                          uint64_t next_ip) noexcept nogil
    cdef void record_captures(self) noexcept nogil
    cdef bint is_second(self, const Captured* one) noexcept nogil
    cdef bint issued_second(self, uint64_t code, uint32_t before, uint64_t block, uint32_t instruction,
                            bint* found) noexcept nogil
