"""First-level TLBs for data and instructions, and a second level for data or for both. Pages have 4 KB."""

cimport cython


@cython.final
cdef class IntervalTlbs:
    """``config``: the figures of the TLBs."""

    def __cinit__(self, config):
        self.data, self.code = tlb_sets(config, "dtlb1", PAGE_SHIFT), tlb_sets(config, "itlb1", PAGE_SHIFT)
        self.walk, self.has_second = config["memory.walk"], "tlb2.entries" in config
        if self.has_second:
            self.second = tlb_sets(config, "tlb2", PAGE_SHIFT)
            self.shared, self.penalty = config["tlb2.instructions"], config["tlb2.penalty"]

    cdef int64_t miss(self, LruSets first, uint64_t page, bint second, bint* walked) noexcept nogil:
        cdef LruLine evicted
        insert_line(&first.rows, page, &evicted)
        if second and self.has_second:
            if use_line(&self.second.rows, page) != NULL:
                return self.penalty
            insert_line(&self.second.rows, page, &evicted)
        walked[0] = True
        return self.walk
