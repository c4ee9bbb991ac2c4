"""Several out-of-order cores: see interval_cores.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockTable, EventSetConsumer, PathTable


@cython.final
cdef class IntervalCores(EventSetConsumer):
    cdef readonly list machines  # by core
    cdef readonly CoherentCaches coherent
    cdef IntervalMachine current # its core runs the current thread
    cdef uint32_t count, core    # of it
    cdef uint32_t event_set      # in force
    cdef bint called             # the last word was the mark of a system call
    cdef bint asleep[MAX_CORES]  # its last thread waits in a system call, or it has had none
    cdef int64_t idle[MAX_CORES] # cycles in which it was asleep

    cdef uint64_t turn_length(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void switch_thread(self, uint64_t thread) noexcept nogil
    cdef int choose_core(self, uint32_t core) except -1
