"""L3 of one processor, in front of the bus.

L3 is not inclusive: a line that leaves it may stay in L2, and its write-back may miss. Reads of data are filled in
state E, of instructions in S, reads for ownership in M (in L2). Lines move from and to L2 one after the other
(Montecito manual 2.3.3.3: each takes four cycles, critical bytes first, to L2D or L2I).
"""

from libc.stdint cimport uint32_t


cdef uint32_t FIRST_MISS[WANTS]       # by L3Request: occurrence of a miss; those of hits follow, by LineState
FIRST_MISS[<int>WANTED_DATA] = Occurrence.L3_DATA_READ_MISS_I
FIRST_MISS[<int>WANTED_OWNED] = Occurrence.L3_DATA_WRITE_MISS_I
FIRST_MISS[<int>WANTED_FETCH] = Occurrence.L3_FETCH_DEMAND_MISS_I
FIRST_MISS[<int>WANTED_FETCH_AHEAD] = Occurrence.L3_FETCH_PREFETCH_MISS_I

cdef Transaction TRANSACTION[WANTS]
TRANSACTION[<int>WANTED_DATA] = BUS_LINE_OF_DATA
TRANSACTION[<int>WANTED_OWNED] = BUS_LINE_TO_OWN
TRANSACTION[<int>WANTED_FETCH] = BUS_LINE_OF_CODE
TRANSACTION[<int>WANTED_FETCH_AHEAD] = BUS_LINE_OF_CODE

cdef uint32_t MODIFIED_THERE[WANTS]      # by L3Request: occurrence of a read of a line that another core had modified
MODIFIED_THERE[<int>WANTED_DATA] = Occurrence.BUS_READ_HITM
MODIFIED_THERE[<int>WANTED_OWNED] = Occurrence.BUS_READ_OWN_HITM
MODIFIED_THERE[<int>WANTED_FETCH] = Occurrence.BUS_READ_HITM
MODIFIED_THERE[<int>WANTED_FETCH_AHEAD] = Occurrence.BUS_READ_HITM


cdef class L3:
    """L3 with the figures of ``config`` ([l3]), in front of the bus."""

    def __cinit__(self, config):
        self.bus = Bus(config)
        self.tags = cache_tags(config, "l3", hinted=False)
        self.latency[<int>WANTED_DATA] = self.latency[<int>WANTED_OWNED] = config["l3.latency"]
        self.latency[<int>WANTED_FETCH] = self.latency[<int>WANTED_FETCH_AHEAD] = config["l3.fetch_latency"]
        start_queue(&self.tracked, config["l3.queue"])
        start_port(&self.data, config["l3.transfer"])
        self.miss_cycles = config["l3.latency"]

    cdef void read(self, EventLog* event_log, uint64_t address, int wanted, bint fill, int64_t now,
                   L3Line* out) noexcept nogil:
        cdef int64_t entry = self.tags.search(address >> self.tags.shift)
        cdef int state = INVALID if entry == ABSENT else self.tags.infos[entry].state
        now = first_free_cycle(&self.tracked, now)
        out.sent = now
        record(event_log, FIRST_MISS[wanted] + state, 1)
        if entry != ABSENT:
            use(self.tags, entry)
            out.ready = occupy(&self.data, now) + self.latency[wanted]
            if self.tags.infos[entry].ready > out.ready:
                out.ready = self.tags.infos[entry].ready
            if wanted == WANTED_OWNED and state == SHARED:
                out.ready = self.invalidate(event_log, address, now)
                state = self.tags.infos[entry].state
            out.state = state
        else:
            out.ready = self.bus.read(event_log, TRANSACTION[wanted], now)
            if self.switch is not None:
                self.switch.l3_miss(now + self.miss_cycles, out.ready)
            out.state = SHARED if wanted >= WANTED_FETCH else EXCLUSIVE
            if self.other is not None:
                if self.snoop_other(event_log, address, wanted, MODIFIED_THERE[wanted]) != INVALID:
                    out.state = SHARED
            if fill:
                self.insert(event_log, address, out.state, out.ready, now)
        if wanted == WANTED_OWNED:
            out.state = MODIFIED
        elif out.state == MODIFIED:
            out.state = EXCLUSIVE    # the modified data are in L3; L2's copy is clean
        enter_queue(&self.tracked, now, out.ready)

    cdef void write_back(self, EventLog* event_log, uint64_t address, int64_t now, int64_t sent) noexcept nogil:
        cdef int64_t entry = self.tags.search(address >> self.tags.shift)
        occupy(&self.data, sent)
        if entry == ABSENT:
            record(event_log, Occurrence.L3_WRITE_BACK_MISS_I, 1)
            self.insert(event_log, address, MODIFIED, now, now)
            return
        record(event_log, Occurrence.L3_WRITE_BACK_MISS_I + self.tags.infos[entry].state, 1)
        self.tags.infos[entry].state = MODIFIED
        use(self.tags, entry)

    cdef int64_t invalidate(self, EventLog* event_log, uint64_t address, int64_t now) noexcept nogil:
        cdef int64_t entry = self.tags.search(address >> self.tags.shift)
        if entry != ABSENT and self.tags.infos[entry].state == SHARED:
            self.tags.infos[entry].state = EXCLUSIVE
        now = self.bus.invalidate(event_log, now)
        if self.other is not None:
            self.snoop_other(event_log, address, WANTED_OWNED, Occurrence.BUS_INVALIDATE_HITM)
        return now

    cdef void flush(self, EventLog* event_log, uint64_t address, bint modified, int64_t now) noexcept nogil:
        cdef int64_t entry = self.tags.search(address >> self.tags.shift)
        if entry != ABSENT:
            modified |= self.tags.infos[entry].state == MODIFIED
            self.tags.clear(entry)
        if modified:
            self.bus.write(event_log, address >> self.tags.shift << self.tags.shift, now)
        if self.other is not None:
            self.bus.invalidate(event_log, now)
            self.snoop_other(event_log, address, WANTED_OWNED, Occurrence.BUS_INVALIDATE_HITM)

    cdef int snoop_other(self, EventLog* event_log, uint64_t address, int wanted, uint32_t modified) noexcept nogil:
        cdef int found = self.other.snoop(address, wanted == WANTED_OWNED, wanted >= WANTED_FETCH, self.bus.asked)
        if found == MODIFIED:
            record(event_log, modified, 1)
        elif found != INVALID and wanted != WANTED_OWNED:
            record(event_log, Occurrence.BUS_READ_HIT, 1)
        return found

    cdef void insert(self, EventLog* event_log, uint64_t address, int state, int64_t ready, int64_t now) noexcept nogil:
        cdef int64_t entry = self.tags.victim(address)
        cdef int evicted = self.tags.infos[entry].state
        cdef uint64_t line = self.tags.numbers[entry] << self.tags.shift
        if evicted != INVALID:
            record(event_log, Occurrence.L3_REPLACED_S + evicted - SHARED, 1)
            if evicted == MODIFIED:
                self.bus.write(event_log, line, now)
            else:
                self.bus.cast_out(event_log, line, now)
        record(event_log, Occurrence.L3_INSERT_S + state - SHARED, 1)
        self.tags.put(entry, address, state, ready, 1)
