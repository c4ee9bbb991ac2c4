"""Instruction fetches in L2: see l2_fetches.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


@cython.final
cdef class L2Fetches:
    cdef TagStore tags           # of L2I, or of a unified L2
    cdef L3 l3
    cdef L2Victims victims
    cdef MshrFile* mshrs         # of a unified L2, which data use, too; NULL: code has an L2 of its own
    cdef int64_t latency
    cdef int64_t lookup_cycles   # between lookups of a line in flight; 0: only on its arrival
    cdef Queue queue

    # Returns the arrival of a request of cycle `now`.
    cdef int64_t request(self, EventLog* event_log, uint64_t address, int kind, int64_t now) noexcept nogil
    cdef int64_t miss(self, EventLog* event_log, uint64_t address, uint32_t ahead, int64_t start) noexcept nogil
    cdef void record_lookups(self, EventLog* event_log, uint32_t occurrence, int64_t cycles) noexcept nogil


cdef inline uint32_t lookup_count(int64_t cycles, int64_t lookup_cycles) noexcept nogil:
    """Returns the number of lookups in so many cycles."""
    return <uint32_t>((cycles - 1) // lookup_cycles + 1) if lookup_cycles else 1
