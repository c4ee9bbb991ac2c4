"""Instruction fetches in L2, or in an L2 of their own (L2I): they have a queue of their own."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    FETCH_QUEUE = 8              # of a unified L2, without a figure of its own


cdef class L2Fetches:
    """``tags``: those of L2I, or of a unified L2; ``lookup_cycles``: between two lookups of a line in flight."""

    def __cinit__(self, config, TagStore tags, L2Victims victims, int64_t lookup_cycles):
        self.tags, self.victims, self.l3, self.lookup_cycles = tags, victims, victims.l3, lookup_cycles
        self.latency = config["l2i.latency" if victims.split else "l2.fetch_latency"]
        start_queue(&self.queue, config["l2i.queue"] if victims.split else FETCH_QUEUE)

    cdef int64_t request(self, EventLog* event_log, uint64_t address, int kind, int64_t now) noexcept nogil:
        cdef int64_t entry = quick_find(self.tags, address), start = first_free_cycle(&self.queue, now), done
        cdef uint32_t ahead = kind == REQUEST_FETCH_PREFETCH
        cdef bint on_its_way = entry != ABSENT and self.tags.infos[entry].ready > start
        if on_its_way:
            self.record_lookups(event_log, Occurrence.L2_FETCH_CONFLICT_DEMAND + ahead,
                                self.tags.infos[entry].ready - start)
        elif start > now and entry != ABSENT:
            self.record_lookups(event_log, Occurrence.L2_FETCH_QUEUED_HIT_DEMAND + ahead, start - now)
        elif start > now:
            self.record_lookups(event_log, Occurrence.L2_FETCH_QUEUED_MISS_DEMAND + ahead, start - now)
        if entry != ABSENT:
            record(event_log, Occurrence.L2_FETCH_HIT_DEMAND + ahead, 1)
            if not ahead:
                record(event_log, Occurrence.L2_FETCH_BYPASS_SHORT, 1)
            use(self.tags, entry)
            done = start + self.latency
            if self.tags.infos[entry].ready > done:
                done = self.tags.infos[entry].ready
        else:
            done = self.miss(event_log, address, ahead, start)
        enter_queue(&self.queue, start, done)
        return done

    cdef void record_lookups(self, EventLog* event_log, uint32_t occurrence, int64_t cycles) noexcept nogil:
        record(event_log, occurrence, 1)
        record(event_log, Occurrence.L2_FETCH_LOOK_AGAIN, lookup_count(cycles, self.lookup_cycles))

    cdef int64_t miss(self, EventLog* event_log, uint64_t address, uint32_t ahead, int64_t start) noexcept nogil:
        cdef L3Line line
        cdef Mshr* coming
        cdef int64_t entry = self.tags.victim(address), asked = start
        record(event_log, Occurrence.L2_FETCH_MISS_DEMAND + ahead, 1)
        if not ahead:
            record(event_log, Occurrence.L2_FETCH_BYPASS_MISS, 1)
        if self.mshrs != NULL:
            asked = mshr_free_cycle(self.mshrs, start)
        asked = self.victims.buffer_cycle(self.tags, entry, asked)
        self.l3.read(event_log, address, WANTED_FETCH + ahead, 1, asked, &line)
        if line.sent > asked:
            record(event_log, Occurrence.L3_REJECT_FETCH_DEMAND + ahead, 1)
        if self.mshrs != NULL:
            coming = allocate_mshr(self.mshrs, address >> self.tags.shift, start, line.ready)
            coming.asked_by = ASKED_BY_FETCH + ahead
        self.victims.evict_line(event_log, self.tags, entry, 1, line.sent, line.ready)
        self.tags.put(entry, address, line.state, line.ready, 1)
        return line.ready
