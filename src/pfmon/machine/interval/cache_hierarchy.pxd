"""Caches and TLBs of an out-of-order core, and memory: see cache_hierarchy.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cpdef enum CacheLevel:           # that had the line
    LEVEL_L1 = 0
    LEVEL_L2
    LEVEL_L3
    LEVEL_MEMORY

cdef enum:
    MAX_PREFETCH_STREAMS = 64
    STREAM_CONFIDENCE = 2        # consecutive neighbours before a stream prefetches
    PAGE_SHIFT = 12

cdef struct LineStream:      # consecutive lines of a page
    uint64_t page                # + 1; 0: none
    uint64_t line
    int32_t direction, sure


cdef inline int32_t follow_line(LineStream* stream, uint64_t page, uint64_t line) noexcept nogil:
    """Continues a stream of lines, or begins one in another page; returns its direction once it is sure, else 0."""
    cdef int32_t step = 1 if line > stream.line else -1
    if stream.page != page + 1:
        stream.page, stream.line, stream.direction, stream.sure = page + 1, line, 0, 0
        return 0
    if line == stream.line:
        return 0
    stream.sure = stream.sure + 1 if step == stream.direction else 1
    stream.direction, stream.line = step, line
    return step if stream.sure >= STREAM_CONFIDENCE else 0


cdef struct L2Traffic:          # so far
    uint64_t prefetch_hits       # prefetches that looked into L2
    uint64_t prefetch_l3, prefetch_memory        # ... and missed, by where the line came from
    uint64_t dropped, written    # lines evicted from L2: unmodified, modified


cdef struct HierarchyAccess:     # result of an access
    int64_t ready                # cycle in which its data arrives
    uint32_t level
    uint32_t references, misses  # of the last-level cache
    uint32_t snoop               # SnoopAnswer of other cores
    bint shared                  # they have the line, too


# Line sizes do not decrease from level to level.
@cython.final
cdef class Hierarchy:
    cdef readonly LruSets l1d, l1i, l2, l3
    cdef CoherentCaches cores    # of all cores; None: there is one
    cdef uint32_t core           # whose caches above the last level these are
    cdef int64_t snoop_clean, snoop_modified     # latencies of lines that another core was asked for
    cdef bint has_l3
    cdef int64_t l1_latency, l2_latency, l3_latency, memory_latency, occupancy
    cdef uint64_t transfers      # lines from L3; 65,536 times those from and to memory
    cdef L2Traffic traffic
    cdef int64_t bus_free        # cycle in which memory can accept the next request
    cdef bint inclusive          # lines evicted from the last-level cache are invalidated in the others
    cdef bint adjacent
    cdef int32_t degree          # lines that a stream prefetches; 0: there are no streams
    cdef uint32_t stream_count   # a page's stream is selected by the page number
    cdef uint32_t stream_mask    # that less one if it is a power of two, else 0
    cdef LineStream streams[MAX_PREFETCH_STREAMS]

    # Requests a line of data that missed L1D; ``writes``: it becomes modified.
    cdef void data(self, uint64_t address, bint writes, int64_t now, HierarchyAccess* served) noexcept nogil
    # Requests a line of instructions that missed L1I.
    cdef void fetch(self, uint64_t address, int64_t now, HierarchyAccess* served) noexcept nogil
    # A store to a line that L1D has, and other cores have, too: the core becomes its owner.
    cdef void own(self, uint64_t address, int64_t now, HierarchyAccess* served) noexcept nogil
    cdef void below(self, uint64_t address, int64_t now, bint demand, bint owns, HierarchyAccess* served) noexcept nogil
    cdef void last_level(self, uint64_t address, int64_t now, bint demand, bint owns,
                         HierarchyAccess* served) noexcept nogil
    cdef void hit_l2(self, uint64_t address, LruLine* found, int64_t now, bint demand, bint owns,
                     HierarchyAccess* served) noexcept nogil
    cdef int64_t ask_cores(self, uint64_t address, LruLine* last, int64_t now, bint owns,
                           HierarchyAccess* served) noexcept nogil
    cdef int64_t from_memory(self, int64_t now) noexcept nogil
    cdef void follow_stream(self, uint64_t address, int64_t now) noexcept nogil
    cdef void prefetch(self, uint64_t address, int64_t now) noexcept nogil
    cdef LruLine* put_l1d(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil
    cdef LruLine* put_l2(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil
    cdef void put_l3(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil
    cdef void evict_last_level(self, uint64_t address, uint32_t shift, bint modified, int64_t now) noexcept nogil
    cdef bint drop_above(self, uint64_t address, uint32_t shift) noexcept nogil
    cdef void bypass(self, uint64_t address) noexcept nogil
    cdef void to_memory(self, int64_t now) noexcept nogil


@cython.final
cdef class IntervalTlbs:
    cdef readonly LruSets data, code, second
    cdef bint has_second
    cdef bint shared             # the second level also has instructions' translations
    cdef int64_t penalty         # cycles that the second level adds
    cdef int64_t walk            # ... that the page walker adds

    # Returns the latency of a translation that missed the first level; ``walked``: no TLB had it.
    cdef int64_t miss(self, LruSets first, uint64_t page, bint second, bint* walked) noexcept nogil
