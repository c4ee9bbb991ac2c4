"""The regions that a program's threads are in; see open_regions.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport MAX_REGION_NAME


cdef enum:
    MAX_REGIONS = 64             # names: a set of regions is a word
    UNNAMED = MAX_REGIONS        # instead of a region's number

cdef struct KnownRegion:
    char name[MAX_REGION_NAME]
    uint32_t bytes
    uint64_t entered             # from outside
    uint64_t stray               # stops by threads outside of it

cdef struct ThreadRegions:
    uint64_t open                # a bit for each region that the thread is in
    uint64_t depth[MAX_REGIONS]  # starts without a stop


@cython.final
cdef class OpenRegions:
    cdef KnownRegion regions[MAX_REGIONS]
    cdef uint32_t count, named   # regions so far, the first of which options name
    cdef uint64_t wanted         # a bit for each region that counts
    cdef bint takes_all          # regions that the program names count, too
    cdef ThreadRegions* threads  # by number
    cdef uint64_t thread_count, thread
    cdef char name[MAX_REGION_NAME + 4]  # of the mark that comes
    cdef uint32_t bytes
    cdef uint64_t now            # those that count and that the running thread is in
    cdef uint64_t invalid        # marks without a valid name
    cdef uint64_t beyond         # marks of further regions, for which there is no room

    cdef bint switch_thread(self, uint64_t thread) noexcept nogil
    cdef void take_name(self, uint64_t mark) noexcept nogil
    cdef void take_mark(self, uint64_t mark) noexcept nogil
    cdef uint32_t number_of_name(self, uint64_t bytes) noexcept nogil
    cdef bint is_valid(self, uint64_t bytes) noexcept nogil
