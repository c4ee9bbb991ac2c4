"""Private caches of several cores, kept coherent: see coherent_caches.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    MAX_CORES = 32               # a bit each in a line of the last level

cpdef enum SnoopAnswer:          # of the other cores, to a request for a line
    SNOOP_NONE = 0               # none was asked
    SNOOP_MISS                   # they do not have it
    SNOOP_HIT                    # one has it, unmodified
    SNOOP_HITM                   # one has it modified

cdef struct PrivateCaches:       # of a core
    LruRows l1d, l1i, l2         # l2 without sets: the cores share it
    uint64_t requests[4]         # reads of lines by SnoopAnswer, of data and instructions, for demand and prefetches,
    uint64_t ownerships[4]       # ... and requests to own one
    uint64_t invalidated         # lines that it lost to a store of another core

cdef struct SnoopedAccess:       # accesses of an instruction of a thread to lines that another core had modified
    uint64_t address             # of the first byte in the line; 0: a free place
    uint64_t instruction         # its block << 8 | its number in it
    uint64_t thread
    uint64_t loads, owned        # that read the line, and that took it away


@cython.final
cdef class CoherentCaches:
    cdef PrivateCaches caches[MAX_CORES]
    cdef readonly uint32_t cores
    cdef bint watches            # which accesses get lines that another core had modified
    cdef uint64_t thread         # that runs
    cdef SnoopedAccess* snooped  # a hash table
    cdef uint64_t snooped_count, snooped_room
    cdef bint lost               # there was no memory for some
    cdef bint inclusive          # L3 knows which cores may have its lines

    cdef uint32_t request(self, uint32_t core, uint64_t line, LruLine* last, bint owns, bint* shared) noexcept nogil
    cdef bint has_shared(self, uint32_t core, uint64_t line) noexcept nogil
    cdef bint may_have(self, uint32_t core, uint32_t other, const LruLine* last, bint owns) noexcept nogil
    cdef uint32_t snoop(self, uint32_t other, uint64_t line, bint owns) noexcept nogil
    cdef void note(self, uint64_t instruction, uint64_t address, bint owns) noexcept nogil
    cdef SnoopedAccess* place_of(self, const SnoopedAccess* wanted) noexcept nogil
    cdef bint grow(self) noexcept nogil
    cdef bint drop(self, uint64_t line) noexcept nogil


cdef inline void share_line(LruLine* line) noexcept nogil:
    """Leaves a line in a private cache, unmodified, which other cores have, too."""
    line.ready = line.ready & ~<int64_t>LINE_MODIFIED | LINE_SHARED


cdef inline uint64_t cores_of(const LruLine* line) noexcept nogil:
    """The cores that may have a line of an inclusive last level: those that got it since another one owned it, a bit each."""
    return <uint64_t>(line.ready >> LINE_TIME)
