"""L3, bus and memory of one processor.

L3 is not inclusive: a line that leaves it may stay in L2, and its write-back may miss. Reads of data come in state E,
of instructions in S, reads for ownership in M (in L2). The data bus takes lines one after the other; reads go before
writes as long as these are fewer than the write queue holds.
"""

from pfmon.machine.notes cimport note
from pfmon.machine.occurrences cimport Occurrence
from pfmon.machine.queues cimport enter_queue, finish_queue, queue_levels, room_in_queue, start_queue
from pfmon.machine.shares cimport Shares, watch_queue
from pfmon.machine.tags cimport ABSENT, EXCLUSIVE, INVALID, MODIFIED, SHARED, use
from pfmon.machine.tags import cache_tags

cdef enum:
    TRANSFERS_A_CLOCK = 2        # the bus moves data on both edges

cdef uint32_t FIRST[4]           # occurrence of a miss by Wanted; hits follow in the order of State
FIRST[<int>WANTED_DATA] = Occurrence.L3_DATA_READ_MISS_I
FIRST[<int>WANTED_OWNED] = Occurrence.L3_DATA_WRITE_MISS_I
FIRST[<int>WANTED_FETCH] = Occurrence.L3_FETCH_DEMAND_MISS_I
FIRST[<int>WANTED_FETCH_AHEAD] = Occurrence.L3_FETCH_PREFETCH_MISS_I

cdef uint32_t TRANSACTION[4]
TRANSACTION[<int>WANTED_DATA] = Occurrence.BUS_READ_DATA
TRANSACTION[<int>WANTED_OWNED] = Occurrence.BUS_READ_OWN
TRANSACTION[<int>WANTED_FETCH] = Occurrence.BUS_READ_FETCH
TRANSACTION[<int>WANTED_FETCH_AHEAD] = Occurrence.BUS_READ_FETCH


cdef class OuterLevels:
    """L3, bus and memory with the figures of ``config`` ([l3], [memory], [bus], [machine])."""

    def __cinit__(self, config):
        transfers = config["l3.line"] // config["bus.width"]
        core, bus = config["machine.frequency"], config["bus.frequency"]
        self.tags = cache_tags(config, "l3", hinted=False)
        self.latency[<int>WANTED_DATA] = self.latency[<int>WANTED_OWNED] = config["l3.latency"]
        self.latency[<int>WANTED_FETCH] = self.latency[<int>WANTED_FETCH_AHEAD] = config["l3.fetch_latency"]
        self.memory_latency = config["memory.latency"]
        self.line_cycles = max(1, (transfers * core + bus // 2) // bus)
        self.line_clocks = max(1, transfers // TRANSFERS_A_CLOCK)
        self.request_cycles = config["bus.request"]
        self.in_order_cycles = config["bus.in_order"]
        self.castouts = config["bus.castouts"]
        self.writes_bound = self.line_cycles * (config["l3.victims"] + config["bus.write_queue"])
        start_queue(&self.tracked, config["l3.queue"])
        start_queue(&self.bus_requests, config["bus.request_queue"])
        start_queue(&self.memory_reads, config["bus.request_queue"])
        start_queue(&self.system, config["bus.system_queue"])
        start_queue(&self.in_order, config["bus.queue"])
        start_queue(&self.writes, config["bus.write_queue"])
        start_queue(&self.castout, config["bus.castout_queue"])

    cdef void read(self, Notes* notes, uint64_t address, int wanted, bint fill, int64_t now, Line* out) noexcept nogil:
        cdef int64_t place = self.tags.search(address >> self.tags.shift)
        cdef int state = INVALID if place == ABSENT else self.tags.infos[place].state
        now = room_in_queue(&self.tracked, now)
        out.sent = now
        out.ready = now + self.latency[wanted]
        note(notes, FIRST[wanted] + state, 1)
        if place != ABSENT:
            use(self.tags, place)
            if self.tags.infos[place].ready > out.ready:
                out.ready = self.tags.infos[place].ready
            if wanted == WANTED_OWNED and state == SHARED:
                out.ready = self.invalidate(notes, address, now)
                state = self.tags.infos[place].state
            out.state = state
        else:
            out.ready = self.bus_read(notes, wanted, now)
            out.state = SHARED if wanted >= WANTED_FETCH else EXCLUSIVE
            if fill:
                self.insert(notes, address, out.state, out.ready, now)
        if wanted == WANTED_OWNED:
            out.state = MODIFIED
        elif out.state == MODIFIED:
            out.state = EXCLUSIVE    # the changes are in L3; L2 has none of its own
        enter_queue(&self.tracked, now, out.ready)

    cdef void write_back(self, Notes* notes, uint64_t address, int64_t now) noexcept nogil:
        cdef int64_t place = self.tags.search(address >> self.tags.shift)
        if place == ABSENT:
            note(notes, Occurrence.L3_WRITE_BACK_MISS_I, 1)
            self.insert(notes, address, MODIFIED, now, now)
            return
        note(notes, Occurrence.L3_WRITE_BACK_MISS_I + self.tags.infos[place].state, 1)
        self.tags.infos[place].state = MODIFIED
        use(self.tags, place)

    cdef int64_t invalidate(self, Notes* notes, uint64_t address, int64_t now) noexcept nogil:
        cdef int64_t place = self.tags.search(address >> self.tags.shift)
        cdef int64_t done = self.bus_request(notes, now) + self.in_order_cycles
        note(notes, Occurrence.BUS_INVALIDATE, 1)
        enter_queue(&self.bus_requests, now, done)
        if place != ABSENT and self.tags.infos[place].state == SHARED:
            self.tags.infos[place].state = EXCLUSIVE
        return done

    cdef void insert(self, Notes* notes, uint64_t address, int state, int64_t ready, int64_t now) noexcept nogil:
        cdef int64_t place = self.tags.victim(address)
        cdef int gone = self.tags.infos[place].state
        if gone != INVALID:
            note(notes, Occurrence.L3_REPLACED_S + gone - SHARED, 1)
            if gone == MODIFIED:
                self.bus_write(notes, now)
            elif self.castouts:
                note(notes, Occurrence.BUS_CASTOUT, 1)
                now = room_in_queue(&self.castout, now)
                enter_queue(&self.castout, now, self.bus_request(notes, now))
        note(notes, Occurrence.L3_INSERT_S + state - SHARED, 1)
        self.tags.put(place, address, state, ready, 1)

    # The cycle in which a request is on the bus: the address bus takes one after the other.
    cdef int64_t bus_request(self, Notes* notes, int64_t now) noexcept nogil:
        cdef int64_t start = room_in_queue(&self.in_order, now)
        if start < self.requests_end:
            start = self.requests_end
        self.requests_end = start + self.request_cycles
        enter_queue(&self.in_order, start, start + self.in_order_cycles)
        return start

    cdef int64_t bus_read(self, Notes* notes, int wanted, int64_t now) noexcept nogil:
        cdef int64_t entered = room_in_queue(&self.bus_requests, now)
        cdef int64_t start, ready, gap
        entered = room_in_queue(&self.system, entered)
        start = self.bus_request(notes, entered)
        enter_queue(&self.system, entered, start + self.request_cycles)
        ready = start + self.memory_latency
        if ready <= self.data_end:
            ready = self.data_end
        elif self.writes_due:
            gap = ready - self.data_end
            self.writes_due = self.writes_due - gap if self.writes_due > gap else 0
        if self.writes_due > self.writes_bound:
            ready += self.writes_due - self.writes_bound
            self.writes_due = self.writes_bound
        if ready == self.data_end:
            note(notes, Occurrence.BUS_BACK_TO_BACK, self.line_clocks)
        self.data_end = ready + self.line_cycles
        note(notes, TRANSACTION[wanted], 1)
        note(notes, Occurrence.BUS_DATA_CYCLE, self.line_clocks)
        enter_queue(&self.bus_requests, entered, self.data_end)
        enter_queue(&self.memory_reads, start, self.data_end)
        return ready

    cdef void bus_write(self, Notes* notes, int64_t now) noexcept nogil:
        self.writes_due += self.line_cycles
        note(notes, Occurrence.BUS_WRITE_BACK, 1)
        note(notes, Occurrence.BUS_DATA_CYCLE, self.line_clocks)
        now = room_in_queue(&self.writes, now)
        enter_queue(&self.writes, now, self.bus_request(notes, now) + self.writes_due)

    cdef void watch(self, Shares shares) noexcept nogil:
        """These levels are shared among slots."""
        watch_queue(shares, &self.bus_requests)
        watch_queue(shares, &self.memory_reads)
        watch_queue(shares, &self.system)
        watch_queue(shares, &self.in_order)
        watch_queue(shares, &self.writes)
        watch_queue(shares, &self.castout)

    cdef void finish(self, int64_t now) noexcept nogil:
        finish_queue(&self.bus_requests, now)
        finish_queue(&self.memory_reads, now)
        finish_queue(&self.system, now)
        finish_queue(&self.in_order, now)
        finish_queue(&self.writes, now)
        finish_queue(&self.castout, now)

    def levels(self) -> dict[str, list[int]]:
        """Cycles with 0, 1, ... entries in each queue."""
        return {
            "BRQ": queue_levels(&self.bus_requests),
            "MEM_READ": queue_levels(&self.memory_reads),
            "SI_RQ": queue_levels(&self.system),
            "IOQ": queue_levels(&self.in_order),
            "SI_WRITEQ": queue_levels(&self.writes),
            "SI_CCQ": queue_levels(&self.castout),
        }
