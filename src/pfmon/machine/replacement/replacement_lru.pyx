"""LRU: the least recently used line is the victim."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    OLDEST = 16
    WAY_BITS = 12                # 4096 ways at most (figures.csv)
    CACHED_WAYS = 24               # of a single set: from so many on the oldest are cached

cdef struct Oldest:              # least recently used ways, oldest first, as long as their stamps are unchanged
    uint32_t count
    uint32_t next
    uint32_t ways[OLDEST]
    uint64_t stamps[OLDEST]


@cython.final
cdef class LruPolicy(ReplacementPolicy):
    """One stamp per entry, with the time of its last use; 0: free, or not used since it was filled."""

    cdef Oldest oldest

    def __cinit__(self, sets: int, ways: int):
        self.recency = RECENCY_STAMP

    cdef void touch(self, uint64_t entry) noexcept nogil:
        self.clock += 1          # order is unaffected when all touches since are repeated: no need to undo
        self.stamps[entry] = self.clock

    cdef uint64_t victim(self, uint64_t chosen_set) noexcept nogil:
        cdef const uint64_t* stamps = &self.stamps[chosen_set << self.way_shift]
        cdef uint64_t way, oldest = stamps[0] << WAY_BITS
        if self.sets == 1 and self.ways >= CACHED_WAYS:
            return self.oldest_of_many()
        for way in range(1, self.ways):      # with the way in the low bits: a branchless minimum
            oldest = min(oldest, stamps[way] << WAY_BITS | way)
        return oldest & ((1 << WAY_BITS) - 1)

    cdef void clear(self, uint64_t entry) noexcept nogil:
        self.stamps[entry] = 0

    cdef void put_unused(self, uint64_t entry) noexcept nogil:
        self.oldest.count = 0    # it is older than the cached ones

    cdef uint64_t oldest_of_many(self) noexcept nogil:
        """Returns the least recently used way of the only set.

        A used way is younger than all unused ones: so the oldest ways stay the oldest, in their order, except for those
        used since.
        """
        cdef Oldest* oldest = &self.oldest
        while oldest.next < oldest.count:
            if self.stamps[oldest.ways[oldest.next]] == oldest.stamps[oldest.next]:
                return oldest.ways[oldest.next]
            oldest.next += 1
        self.collect_oldest()
        return oldest.ways[0]

    cdef void collect_oldest(self) noexcept nogil:
        cdef Oldest* oldest = &self.oldest
        cdef uint64_t stamp
        cdef uint32_t way, at
        oldest.count = oldest.next = 0
        for way in range(self.ways):
            stamp = self.stamps[way]
            if oldest.count == OLDEST and stamp >= oldest.stamps[OLDEST - 1]:
                continue
            if oldest.count < OLDEST:
                oldest.count += 1
            at = oldest.count - 1
            while at > 0 and oldest.stamps[at - 1] > stamp:
                oldest.stamps[at] = oldest.stamps[at - 1]
                oldest.ways[at] = oldest.ways[at - 1]
                at -= 1
            oldest.stamps[at] = stamp
            oldest.ways[at] = way
