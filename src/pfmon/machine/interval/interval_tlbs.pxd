"""TLBs of an out-of-order core: see interval_tlbs.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint64_t


@cython.final
cdef class IntervalTlbs:
    cdef readonly LruSets data, code, second
    cdef bint has_second
    cdef bint shared             # the second level also has instructions' translations
    cdef int64_t penalty         # cycles that the second level adds
    cdef int64_t walk            # ... that the page walker adds

    # Returns the latency of a translation that missed the first level; ``walked``: no TLB had it.
    cdef int64_t miss(self, LruSets first, uint64_t page, bint second, bint* walked) noexcept nogil
