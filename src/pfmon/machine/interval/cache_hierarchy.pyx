"""L1I, L1D, a unified L2, optionally an L3, and memory: hits, misses and arrival times of accesses.

All effects of an access are computed when it is made. Its line is in the cache from then on, with the cycle of its
arrival; an earlier access waits for that. Memory delivers a line each `memory.occupancy` cycles. Caches are write-back
and write-allocate; a write-back that hits below makes the line modified there. L2 need not contain L1's lines; the last
level contains those of all others if it is inclusive, and its evictions invalidate them. Several cores share the last
level, and keep the caches above it coherent (coherent_caches.pyx); each has clocks, and ways to memory, of its own.

Prefetchers work on misses of L1: streams of neighbouring lines in a page (`prefetch.*`), and the other line of an
aligned pair (`prefetch.adjacent`). They fill L2 and the last level. Their requests to the last level are no references.
"""

cimport cython
from libc.string cimport memset


@cython.final
cdef class Hierarchy:
    """``config``: the figures of the caches, memory and prefetchers; ``cores``: of the caches of several cores, of which
    these are those of ``core``; ``beside``: those of another core, with the last level that they share."""

    def __cinit__(self, config, CoherentCaches cores=None, uint32_t core=0, Hierarchy beside=None):
        self.l1d, self.l1i = cache_sets(config, "l1d"), cache_sets(config, "l1i")
        self.has_l3 = "l3.size" in config
        if self.has_l3:
            self.l3 = cache_sets(config, "l3") if beside is None else beside.l3
            self.l3_latency = config["l3.latency"]
        self.l2 = cache_sets(config, "l2") if beside is None or self.has_l3 else beside.l2
        self.l1_latency, self.l2_latency = config["l1d.latency"], config["l2.latency"]
        self.memory_latency, self.occupancy = config["memory.latency"], config["memory.occupancy"]
        self.inclusive, self.adjacent = config["memory.inclusive"], config["prefetch.adjacent"]
        self.degree, self.stream_count = config["prefetch.degree"], config["prefetch.streams"]
        self.stream_mask = 0 if self.stream_count & (self.stream_count - 1) else self.stream_count - 1
        if cores is not None:
            self.cores, self.core = cores, core
            self.snoop_clean, self.snoop_modified = config["snoop.clean"], config["snoop.modified"]
            cores.caches[core].l1d, cores.caches[core].l1i = self.l1d.rows, self.l1i.rows
            if self.has_l3:
                cores.caches[core].l2 = self.l2.rows

    # --- requests of the core that missed L1

    cdef void data(self, uint64_t address, bint writes, int64_t now, HierarchyAccess* served) noexcept nogil:
        cdef LruLine* line
        served.references = served.misses = 0
        self.below(address, now, True, writes, served)
        line = self.put_l1d(address, writes, served.ready, now)
        if served.shared:
            line.ready |= LINE_SHARED
        if self.degree:
            self.follow_stream(address, now)

    cdef void fetch(self, uint64_t address, int64_t now, HierarchyAccess* served) noexcept nogil:
        cdef LruLine evicted
        served.references = served.misses = 0
        self.below(address, now, True, False, served)
        insert_line(&self.l1i.rows, address >> self.l1i.shift, &evicted).ready = packed(served.ready, False)

    # --- L2 and below

    cdef void own(self, uint64_t address, int64_t now, HierarchyAccess* served) noexcept nogil:
        cdef LruLine* found = find(&self.l1d.rows, address >> self.l1d.shift)
        cdef LruLine* last
        served.references, served.misses = 1, 0
        if self.has_l3:
            served.level, last = LEVEL_L3, use_line(&self.l3.rows, address >> self.l3.shift)
            self.transfers += 1
        else:
            served.level, last = LEVEL_L2, use_line(&self.l2.rows, address >> self.l2.shift)
        served.ready = self.ask_cores(address, last, now, True, served)
        found.ready &= ~<int64_t>LINE_SHARED
        found = find(&self.l2.rows, address >> self.l2.shift)
        if found != NULL and self.has_l3:
            found.ready &= ~<int64_t>LINE_SHARED

    cdef void below(self, uint64_t address, int64_t now, bint demand, bint owns, HierarchyAccess* served) noexcept nogil:
        """Requests a line that missed L1, for ownership or not; fills it into L2."""
        cdef LruLine* found = use_line(&self.l2.rows, address >> self.l2.shift)
        served.snoop, served.shared = SNOOP_NONE, False
        if not self.has_l3:
            served.references += demand
        if found != NULL:
            served.level = LEVEL_L2
            served.ready = max(now + self.l2_latency, ready_of(found))
            if self.cores is not None:
                self.hit_l2(address, found, now, demand, owns, served)
            return
        if self.has_l3:
            self.last_level(address, now, demand, owns, served)
        else:
            if self.cores is not None:
                served.ready = self.ask_cores(address, NULL, now, owns, served)
            if served.snoop == SNOOP_HITM:
                served.level = LEVEL_L2
            else:
                served.misses += demand
                served.level, served.ready = LEVEL_MEMORY, self.from_memory(now)
        found = self.put_l2(address, not self.has_l3 and served.snoop == SNOOP_HITM, served.ready, now)
        if served.shared and self.has_l3:
            found.ready |= LINE_SHARED
        if demand and self.adjacent:
            self.prefetch(address ^ <uint64_t>1 << self.l2.shift, now)

    cdef void hit_l2(self, uint64_t address, LruLine* found, int64_t now, bint demand, bint owns,
                     HierarchyAccess* served) noexcept nogil:
        """Handles a hit in L2 of one of several cores, whose own it is if there is an L3."""
        if not self.has_l3:
            if ready_of(found) > self.bus_free + self.memory_latency:    # as another core's clock has it
                served.ready = now + self.l2_latency
            served.ready = max(served.ready, self.ask_cores(address, found, now, owns, served))
        elif owns and is_shared(found):
            self.transfers += 1
            served.references += demand
            served.level = LEVEL_L3
            served.ready = self.ask_cores(address, use_line(&self.l3.rows, address >> self.l3.shift), now, True, served)
            found.ready &= ~<int64_t>LINE_SHARED
        else:
            served.shared = is_shared(found)

    cdef int64_t ask_cores(self, uint64_t address, LruLine* last, int64_t now, bint owns,
                           HierarchyAccess* served) noexcept nogil:
        """Asks the other cores for a line, which the last level has or has not (NULL); returns when they and it have answered."""
        served.snoop = self.cores.request(self.core, address >> self.l1d.shift, last, owns, &served.shared)
        if served.snoop == SNOOP_HITM:
            return now + self.snoop_modified
        if served.snoop != SNOOP_NONE and self.has_l3:
            return now + self.snoop_clean
        return now + (self.l3_latency if self.has_l3 else self.l2_latency)

    cdef void last_level(self, uint64_t address, int64_t now, bint demand, bint owns,
                         HierarchyAccess* served) noexcept nogil:
        """Requests a line that missed L1 and L2."""
        cdef LruLine* found = use_line(&self.l3.rows, address >> self.l3.shift)
        self.transfers += 1
        served.references += demand
        if self.cores is not None:
            served.ready = self.ask_cores(address, found, now, owns, served)
        if found != NULL or served.snoop == SNOOP_HITM:
            served.level = LEVEL_L3
            if self.cores is None:
                served.ready = max(now + self.l3_latency, ready_of(found))
            elif found == NULL:
                self.put_l3(address, True, served.ready, now)
            return
        served.misses += demand
        served.level, served.ready = LEVEL_MEMORY, self.from_memory(now)
        self.put_l3(address, False, served.ready, now)

    cdef int64_t from_memory(self, int64_t now) noexcept nogil:
        """Returns the cycle in which memory delivers a line requested now."""
        cdef int64_t start = max(now, self.bus_free)
        self.bus_free = start + self.occupancy
        self.transfers += 1 << 16
        return start + self.memory_latency

    # --- fills: a modified victim goes to the next level

    cdef LruLine* put_l1d(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil:
        cdef LruLine evicted
        cdef LruLine* line = insert_line(&self.l1d.rows, address >> self.l1d.shift, &evicted)
        line.ready = packed(ready, modified)
        if evicted.number and is_modified(&evicted):
            address = (evicted.number - 1) << self.l1d.shift
            if not keep_modified(self.l2, address >> self.l2.shift):
                self.put_l2(address, True, now, now)
        return line

    cdef LruLine* put_l2(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil:
        cdef LruLine evicted
        cdef LruLine* line = insert_line(&self.l2.rows, address >> self.l2.shift, &evicted)
        line.ready = packed(ready, modified)
        if evicted.number == 0:
            return line
        if is_modified(&evicted):
            self.traffic.written += 1
        else:
            self.traffic.dropped += 1
        address = (evicted.number - 1) << self.l2.shift
        if not self.has_l3:
            self.evict_last_level(address, self.l2.shift, is_modified(&evicted), now)
        elif is_modified(&evicted) and not keep_modified(self.l3, address >> self.l3.shift):
            self.put_l3(address, True, now, now)
        return line

    cdef void put_l3(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil:
        cdef LruLine evicted
        insert_line(&self.l3.rows, address >> self.l3.shift, &evicted).ready = packed(
            ready if self.cores is None else <int64_t>1 << self.core, modified)
        if evicted.number:
            self.evict_last_level((evicted.number - 1) << self.l3.shift, self.l3.shift, is_modified(&evicted), now)

    cdef void evict_last_level(self, uint64_t address, uint32_t shift, bint modified, int64_t now) noexcept nogil:
        """Handles an eviction from the last-level cache, which invalidates the others if it is inclusive."""
        if modified | (self.inclusive and self.drop_above(address, shift)):
            self.to_memory(now)

    cdef bint drop_above(self, uint64_t address, uint32_t shift) noexcept nogil:
        """Invalidates the bytes of a line in all caches above the last one; returns whether any were modified there."""
        cdef bint modified
        if self.cores is not None:
            return self.cores.drop(address >> shift)
        modified = drop(self.l1d, address, shift)
        drop(self.l1i, address, shift)
        if self.has_l3:
            modified |= drop(self.l2, address, shift)
        return modified

    cdef void bypass(self, uint64_t address) noexcept nogil:
        """Removes a line of data from all caches: it is accessed in memory (Intel SDM volume 1, 10.4.6.2)."""
        self.drop_above(address, self.l1d.shift)
        if self.has_l3:
            self.l3.remove(address >> self.l3.shift)
        else:
            self.l2.remove(address >> self.l2.shift)

    cdef void to_memory(self, int64_t now) noexcept nogil:
        """Writes a modified line over the bus."""
        self.bus_free = max(now, self.bus_free) + self.occupancy
        self.transfers += 1 << 16

    # --- prefetchers

    cdef void follow_stream(self, uint64_t address, int64_t now) noexcept nogil:
        """Handles a miss of L1D: prefetches the next lines of its stream, within the page."""
        cdef uint64_t page = address >> PAGE_SHIFT, line = address >> self.l1d.shift, ahead
        cdef LineStream* stream = &self.streams[page & self.stream_mask if self.stream_mask
                                                else page % self.stream_count]
        cdef int32_t step = follow_line(stream, page, line), k
        if step == 0:
            return
        for k in range(1, self.degree + 1):
            ahead = (line + <uint64_t><int64_t>(k * step)) << self.l1d.shift
            if ahead >> PAGE_SHIFT == page:
                self.prefetch(ahead, now)

    cdef void prefetch(self, uint64_t address, int64_t now) noexcept nogil:
        """Fills a line into L2, and into the last level; a hit in L2 does not change its recency."""
        cdef HierarchyAccess served
        if find(&self.l2.rows, address >> self.l2.shift) == NULL:
            memset(&served, 0, sizeof(served))
            self.below(address, now, False, False, &served)
            self.traffic.prefetch_l3 += served.level == LEVEL_L3
            self.traffic.prefetch_memory += served.level == LEVEL_MEMORY
        else:
            self.traffic.prefetch_hits += 1


cdef inline bint keep_modified(LruSets sets, uint64_t line) noexcept nogil:
    """Writes a modified line back from the level above, without effect on recency; False: it is not there."""
    cdef LruLine* found = find(&sets.rows, line)
    if found == NULL:
        return False
    found.ready |= 1
    return True


cdef bint drop(LruSets sets, uint64_t address, uint32_t shift) noexcept nogil:
    """Invalidates so many bytes (1 << shift) in a cache; returns whether any were modified."""
    cdef uint64_t line = address >> sets.shift, last = (address + (<uint64_t>1 << shift) - 1) >> sets.shift
    cdef bint modified = False
    while line <= last:
        modified |= sets.remove(line)
        line += 1
    return modified


@cython.final
cdef class IntervalTlbs:
    """First-level TLBs for data and instructions, and a second level for data or for both. Pages have 4 KB. ``config``:
    the figures of the TLBs."""

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
