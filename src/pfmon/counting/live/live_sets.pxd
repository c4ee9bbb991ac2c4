"""Several event sets, counted live in turn: see live_sets.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine._machine cimport ObservedBlock, RecordObserver
from pfmon.stream._stream cimport BlockTable


@cython.final
cdef class LiveSets(RecordObserver):
    cdef BlockTable table
    cdef bint traced
    cdef list sets
    cdef LiveCounting current    # the one in force; None: nothing is counted
    cdef CallStack calls         # of all; or None
    cdef uint32_t event_set
    cdef uint64_t retired, last  # as of the last block
    cdef uint64_t active[64]     # instructions that retired while each was in force

    cdef void skip_block(self, const uint64_t* words, uint64_t count, bint traced) noexcept nogil
    cdef int choose(self, uint32_t event_set) except -1
