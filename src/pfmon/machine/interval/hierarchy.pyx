"""L1I, L1D, a unified L2, perhaps an L3, and memory: what an access finds where, and when its data is there.

An access is worked out when it is made, with all that it causes. A line is in its cache from then on, with the cycle in
which it will have come; who wants it sooner waits until then. Memory hands over a line each `memory.occupancy` cycles.
Caches write back and allocate on writes; what a write-back finds below becomes modified there. L2 need not hold what L1
holds; the last level does if it is inclusive, and what leaves it leaves all others.

Prefetchers work on what L1 misses: streams of neighbouring lines in a page (`prefetch.*`), and the other line of an aligned
pair (`prefetch.adjacent`). They fill L2 and the last level. What they ask the last level for is no reference.
"""

cimport cython
from libc.string cimport memset

from pfmon.machine.interval.recency cimport bring, find, is_modified, look, packed, ready_of
from pfmon.machine.interval.recency import cache_sets

cdef enum:
    SURE = 2                     # neighbours in a row before a stream fetches ahead


@cython.final
cdef class Hierarchy:
    """``config``: the figures of the caches, memory and prefetchers."""

    def __cinit__(self, config):
        self.l1d, self.l1i, self.l2 = cache_sets(config, "l1d"), cache_sets(config, "l1i"), cache_sets(config, "l2")
        self.has_l3 = "l3.size" in config
        if self.has_l3:
            self.l3, self.l3_latency = cache_sets(config, "l3"), config["l3.latency"]
        self.l1_latency, self.l2_latency = config["l1d.latency"], config["l2.latency"]
        self.memory_latency, self.occupancy = config["memory.latency"], config["memory.occupancy"]
        self.inclusive, self.adjacent = config["memory.inclusive"], config["prefetch.adjacent"]
        self.degree, self.stream_count = config["prefetch.degree"], config["prefetch.streams"]
        self.stream_mask = 0 if self.stream_count & (self.stream_count - 1) else self.stream_count - 1

    # --- what the core asks for, and L1 does not have

    cdef void data(self, uint64_t address, bint writes, int64_t now, Served* served) noexcept nogil:
        served.references = served.misses = 0
        self.below(address, now, True, served)
        self.put_l1d(address, writes, served.ready, now)
        if self.degree:
            self.follow_stream(address, now)

    cdef void fetch(self, uint64_t address, int64_t now, Served* served) noexcept nogil:
        cdef Line gone
        served.references = served.misses = 0
        self.below(address, now, True, served)
        bring(&self.l1i.rows, address >> self.l1i.shift, &gone).ready = packed(served.ready, False)

    # --- from L2 on

    cdef void below(self, uint64_t address, int64_t now, bint demand, Served* served) noexcept nogil:
        """A line that L1 does not have; L2 has it afterwards."""
        cdef const Line* found = look(&self.l2.rows, address >> self.l2.shift)
        if not self.has_l3:
            served.references += demand
        if found != NULL:
            served.level = LEVEL_L2
            served.ready = max(now + self.l2_latency, ready_of(found))
            return
        if self.has_l3:
            self.last_level(address, now, demand, served)
        else:
            served.misses += demand
            served.level, served.ready = LEVEL_MEMORY, self.from_memory(now)
        self.put_l2(address, False, served.ready, now)
        if demand and self.adjacent:
            self.prefetch(address ^ <uint64_t>1 << self.l2.shift, now)

    cdef void last_level(self, uint64_t address, int64_t now, bint demand, Served* served) noexcept nogil:
        """A line that neither L1 nor L2 has."""
        cdef const Line* found = look(&self.l3.rows, address >> self.l3.shift)
        served.references += demand
        if found != NULL:
            served.level = LEVEL_L3
            served.ready = max(now + self.l3_latency, ready_of(found))
            return
        served.misses += demand
        served.level, served.ready = LEVEL_MEMORY, self.from_memory(now)
        self.put_l3(address, False, served.ready, now)

    cdef int64_t from_memory(self, int64_t now) noexcept nogil:
        """The cycle in which memory has delivered a line that it is asked for now."""
        cdef int64_t start = max(now, self.bus_free)
        self.bus_free = start + self.occupancy
        return start + self.memory_latency

    # --- room: a modified line that makes it goes to the next level

    cdef void put_l1d(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil:
        cdef Line gone
        bring(&self.l1d.rows, address >> self.l1d.shift, &gone).ready = packed(ready, modified)
        if gone.number and is_modified(&gone):
            address = (gone.number - 1) << self.l1d.shift
            if not keep_modified(self.l2, address >> self.l2.shift):
                self.put_l2(address, True, now, now)

    cdef void put_l2(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil:
        cdef Line gone
        bring(&self.l2.rows, address >> self.l2.shift, &gone).ready = packed(ready, modified)
        if gone.number == 0:
            return
        address = (gone.number - 1) << self.l2.shift
        if not self.has_l3:
            self.leave_last(address, self.l2.shift, is_modified(&gone), now)
        elif is_modified(&gone) and not keep_modified(self.l3, address >> self.l3.shift):
            self.put_l3(address, True, now, now)

    cdef void put_l3(self, uint64_t address, bint modified, int64_t ready, int64_t now) noexcept nogil:
        cdef Line gone
        bring(&self.l3.rows, address >> self.l3.shift, &gone).ready = packed(ready, modified)
        if gone.number:
            self.leave_last((gone.number - 1) << self.l3.shift, self.l3.shift, is_modified(&gone), now)

    cdef void leave_last(self, uint64_t address, uint32_t shift, bint modified, int64_t now) noexcept nogil:
        """A line left the last cache, and leaves all others if that is inclusive."""
        if modified | (self.inclusive and self.drop_above(address, shift)):
            self.to_memory(now)

    cdef bint drop_above(self, uint64_t address, uint32_t shift) noexcept nogil:
        """The bytes of a line leave all caches above the last one; whether any were modified there."""
        cdef bint modified = drop(self.l1d, address, shift)
        drop(self.l1i, address, shift)
        if self.has_l3:
            modified |= drop(self.l2, address, shift)
        return modified

    cdef void to_memory(self, int64_t now) noexcept nogil:
        """A modified line goes over the bus."""
        self.bus_free = max(now, self.bus_free) + self.occupancy

    # --- prefetchers

    cdef void follow_stream(self, uint64_t address, int64_t now) noexcept nogil:
        """A line that L1D missed: the next ones of its stream are fetched ahead, within the page."""
        cdef uint64_t page = address >> PAGE_SHIFT, line = address >> self.l1d.shift, ahead
        cdef Stream* stream = &self.streams[page & self.stream_mask if self.stream_mask else page % self.stream_count]
        cdef int32_t step, k
        if stream.page != page + 1:
            stream.page, stream.line, stream.direction, stream.sure = page + 1, line, 0, 0
            return
        step = 1 if line > stream.line else -1
        if line == stream.line:
            return
        stream.sure = stream.sure + 1 if step == stream.direction else 1
        stream.direction, stream.line = step, line
        if stream.sure < SURE:
            return
        for k in range(1, self.degree + 1):
            ahead = (line + <uint64_t><int64_t>(k * step)) << self.l1d.shift
            if ahead >> PAGE_SHIFT == page:
                self.prefetch(ahead, now)

    cdef void prefetch(self, uint64_t address, int64_t now) noexcept nogil:
        """A line goes into L2, and into the last level; one that L2 has is not used by that."""
        cdef Served served
        if find(&self.l2.rows, address >> self.l2.shift) == NULL:
            memset(&served, 0, sizeof(served))
            self.below(address, now, False, &served)


cdef inline bint keep_modified(Sets sets, uint64_t line) noexcept nogil:
    """A modified line comes from the level above, which is no use of it; False: it is not there."""
    cdef Line* found = find(&sets.rows, line)
    if found == NULL:
        return False
    found.ready |= 1
    return True


cdef bint drop(Sets sets, uint64_t address, uint32_t shift) noexcept nogil:
    """So many bytes (1 << shift) leave a cache; whether any were modified."""
    cdef uint64_t line = address >> sets.shift, last = (address + (<uint64_t>1 << shift) - 1) >> sets.shift
    cdef bint modified = False
    while line <= last:
        modified |= sets.remove(line)
        line += 1
    return modified
