"""The caches of a core as snooped by others: see coherence.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef enum:                       # snoop responses; the order is that of the occurrences SNOOPED_*
    RESPONSE_MISS = 0
    RESPONSE_HIT = 1
    RESPONSE_HITM = 2
    RESPONSE_CODE = 3
    RESPONSE_L2I_HIT = 4
    RESPONSE_WRITE = 5
    RESPONSE_CASTOUT = 6
    RESPONSES = 7

@cython.final
cdef class SnoopedCaches(Snooper):
    cdef L2 l2
    cdef InstructionFetch fetch
    cdef bint same_memory
    cdef uint32_t responses[RESPONSES]      # not recorded yet
    cdef bint has_responses           # whether there are any

    # Records the responses.
    cdef void record_responses(self, EventLog* event_log) noexcept nogil
    # Drops them: the core sleeps.
    cdef void forget_responses(self) noexcept nogil
    cdef int snoop_data_caches(self, uint64_t line, bint invalidate) noexcept nogil
    cdef int snoop_tags(self, TagStore store, uint64_t address, bint invalidate) noexcept nogil
    cdef void snoop_writeback_buffer(self, uint64_t line, int64_t now) noexcept nogil
    cdef void drop_code(self, uint64_t address) noexcept nogil
