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

from pfmon.machine.tags cimport ABSENT, EXCLUSIVE, INVALID, MODIFIED, quick_find, use
from pfmon.machine.tags import cache_tags

cdef enum:
    SURE = 2                     # neighbours in a row before a stream fetches ahead


@cython.final
cdef class Hierarchy:
    """``config``: the figures of the caches, memory and prefetchers."""

    def __cinit__(self, config):
        self.l1d, self.l1i, self.l2 = cache_tags(config, "l1d"), cache_tags(config, "l1i"), cache_tags(config, "l2")
        if "l3.size" in config:
            self.l3 = cache_tags(config, "l3")
            self.l3_latency = config["l3.latency"]
        self.l1_latency, self.l2_latency = config["l1d.latency"], config["l2.latency"]
        self.memory_latency, self.occupancy = config["memory.latency"], config["memory.occupancy"]
        self.inclusive, self.adjacent = config["memory.inclusive"], config["prefetch.adjacent"]
        self.degree, self.stream_count = config["prefetch.degree"], config["prefetch.streams"]
        self.shift = self.l1d.shift

    # --- what the core asks for

    cdef void data(self, uint64_t address, bint writes, int64_t now, Served* served) noexcept nogil:
        cdef int64_t place = quick_find(self.l1d, address)
        served.references = served.misses = 0
        if place != ABSENT:
            use(self.l1d, place)
            if writes:
                self.l1d.infos[place].state = MODIFIED
            served.level = LEVEL_L1
            served.ready = max(now + self.l1_latency, self.l1d.infos[place].ready)
            return
        self.below(address, now, True, served)
        self.put(self.l1d, address, MODIFIED if writes else EXCLUSIVE, served.ready, now)
        if self.degree:
            self.follow_stream(address, now)

    cdef void fetch(self, uint64_t address, int64_t now, Served* served) noexcept nogil:
        cdef int64_t place = quick_find(self.l1i, address)
        served.references = served.misses = 0
        if place != ABSENT:
            use(self.l1i, place)
            served.level = LEVEL_L1
            served.ready = max(now, self.l1i.infos[place].ready)
            return
        self.below(address, now, True, served)
        self.put(self.l1i, address, EXCLUSIVE, served.ready, now)

    # --- from L2 on

    cdef void below(self, uint64_t address, int64_t now, bint demand, Served* served) noexcept nogil:
        """A line that L1 does not have; L2 has it afterwards."""
        cdef int64_t place = quick_find(self.l2, address)
        if self.l3 is None:
            served.references += demand
        if place != ABSENT:
            use(self.l2, place)
            served.level = LEVEL_L2
            served.ready = max(now + self.l2_latency, self.l2.infos[place].ready)
            return
        if self.l3 is None:
            served.misses += demand
            served.level, served.ready = LEVEL_MEMORY, self.from_memory(now)
        else:
            self.last_level(address, now, demand, served)
        self.put(self.l2, address, EXCLUSIVE, served.ready, now)
        if demand and self.adjacent:
            self.prefetch(address ^ <uint64_t>1 << self.shift, now)

    cdef void last_level(self, uint64_t address, int64_t now, bint demand, Served* served) noexcept nogil:
        """A line that neither L1 nor L2 has."""
        cdef int64_t place = quick_find(self.l3, address)
        served.references += demand
        if place != ABSENT:
            use(self.l3, place)
            served.level = LEVEL_L3
            served.ready = max(now + self.l3_latency, self.l3.infos[place].ready)
            return
        served.misses += demand
        served.level, served.ready = LEVEL_MEMORY, self.from_memory(now)
        self.put(self.l3, address, EXCLUSIVE, served.ready, now)

    cdef int64_t from_memory(self, int64_t now) noexcept nogil:
        """The cycle in which memory has delivered a line that it is asked for now."""
        cdef int64_t start = max(now, self.bus_free)
        self.bus_free = start + self.occupancy
        return start + self.memory_latency

    # --- room

    cdef void put(self, TagStore store, uint64_t address, int state, int64_t ready, int64_t now) noexcept nogil:
        """Fill a line in; the one that makes room is written back if it is modified."""
        cdef int64_t place = store.victim(address)
        cdef uint64_t gone = store.numbers[place] << store.shift
        cdef int before = store.infos[place].state
        if before != INVALID:
            if store is self.l1d:
                forget(self.quick, gone >> self.shift)
            elif store is self.l1i:
                forget(self.quick_code, gone >> self.shift)
            elif self.inclusive and (store is self.l3 or (self.l3 is None and store is self.l2)):
                before = max(before, self.drop_above(gone))
            if before == MODIFIED:
                self.write_back(store, gone, now)
        store.put(place, address, state, ready, True)

    cdef int drop_above(self, uint64_t address) noexcept nogil:
        """The line leaves all caches above the last one; the most that it was there: MODIFIED, or less."""
        cdef int state = drop(self.l1d, address)
        forget(self.quick, address >> self.shift)
        drop(self.l1i, address)
        forget(self.quick_code, address >> self.shift)
        if self.l3 is not None:
            state = max(state, drop(self.l2, address))
        return state

    cdef void write_back(self, TagStore store, uint64_t address, int64_t now) noexcept nogil:
        """A modified line goes to the next level, or over the bus to memory."""
        if store is self.l1d:
            self.modify(self.l2, address, now)
        elif store is self.l2 and self.l3 is not None:
            self.modify(self.l3, address, now)
        else:
            self.bus_free = max(now, self.bus_free) + self.occupancy

    cdef void modify(self, TagStore store, uint64_t address, int64_t now) noexcept nogil:
        """A modified line comes from the cache above."""
        cdef int64_t place = quick_find(store, address)
        if place != ABSENT:
            store.infos[place].state = MODIFIED
        else:
            self.put(store, address, MODIFIED, now, now)

    # --- prefetchers

    cdef void follow_stream(self, uint64_t address, int64_t now) noexcept nogil:
        """A line that L1D missed: the next ones of its stream are fetched ahead, within the page."""
        cdef uint64_t page = address >> PAGE_SHIFT, line = address >> self.shift, ahead
        cdef Stream* stream = NULL
        cdef uint32_t i
        cdef int32_t step, k
        for i in range(self.stream_count):
            if self.streams[i].page == page + 1:
                stream = &self.streams[i]
                break
        if stream == NULL:
            stream = &self.streams[self.next_stream]
            self.next_stream = self.next_stream + 1 if self.next_stream + 1 < self.stream_count else 0
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
            ahead = line + <uint64_t><int64_t>(k * step)
            if ahead >> (PAGE_SHIFT - self.shift) == page:
                self.prefetch(ahead << self.shift, now)

    cdef void prefetch(self, uint64_t address, int64_t now) noexcept nogil:
        """A line goes into L2, and into the last level."""
        cdef Served served
        memset(&served, 0, sizeof(served))
        if quick_find(self.l2, address) == ABSENT:
            self.below(address, now, False, &served)


cdef inline void forget(Quick* quick, uint64_t line) noexcept nogil:
    """The line is not in its cache any more."""
    if quick[slot_of(line)].line == line + 1:
        quick[slot_of(line)].line = 0


cdef int drop(TagStore store, uint64_t address) noexcept nogil:
    """A line leaves a cache; its state there."""
    cdef int64_t place = quick_find(store, address)
    cdef int state = INVALID
    if place != ABSENT:
        state = store.infos[place].state
        store.clear(place)
    return state
