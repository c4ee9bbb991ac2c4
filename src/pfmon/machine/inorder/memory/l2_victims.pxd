"""Lines that leave L2: see l2_victims.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint64_t


@cython.final
cdef class L2Victims:
    cdef L3 l3
    cdef TagStore first_level    # L1D, if lines evicted from L2 are invalidated in it
    cdef uint64_t other_thread   # bits of L1D's addresses of the program's other thread; 0: there is none
    cdef bint split              # code has an L2 of its own
    cdef int64_t write_cycles    # of the transfer of a victim to L3
    cdef Queue buffers, write_buffers    # the victim buffers, L3's write buffers
    cdef MshrFile leaving        # modified lines in the victim buffers

    # Returns the first cycle from `now` on with a free victim buffer for the line at index `entry`, if it needs one.
    cdef int64_t buffer_cycle(self, TagStore tags, int64_t entry, int64_t now) noexcept nogil
    # Evicts the line at `entry` for a line that arrives in cycle `filled`: writes it back to L3 if it is modified, and
    # invalidates it in L1D.
    cdef void evict_line(self, EventLog* event_log, TagStore tags, int64_t entry, bint for_code, int64_t now,
                         int64_t filled) noexcept nogil
    # A line leaves L1D, too, which may have parts of it.
    cdef void invalidate_first_level(self, uint64_t line, uint64_t size) noexcept nogil
