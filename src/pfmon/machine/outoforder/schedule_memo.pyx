"""Schedules that were computed before, by the state in which a block began, its responses from memory and its end.

A schedule follows from these alone. States recur: in a loop after a few iterations, and behind each mispredicted branch. So
most blocks are looked up: the schedule that ran last has the two that followed it last. What is kept is small, so that
it stays in the host's caches, since computing a schedule takes no longer than a miss of these: a state or a schedule is
kept when it occurs again, and all are forgotten when there is no more room.
"""

cimport cython
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

cdef enum:
    MEMO_BYTES = 6 << 20
    NO_KEY = 0xFFFFFFFFFFFFFFFF
    LANES = 4                    # of a state's hash


@cython.final
cdef class ScheduleMemo:
    """``remembers``: False: each block is computed."""

    def __cinit__(self, bint remembers=True):
        self.remembers = remembers
        self.memory = <char*>malloc(MEMO_BYTES)
        if self.memory == NULL:
            raise MemoryError
        self.nothing.key = NO_KEY
        self.nothing.following[0] = self.nothing.following[1] = &self.nothing
        self.last = &self.nothing

    def __dealloc__(self):
        free(self.memory)

    cdef void forget(self) noexcept nogil:
        """Forgets all schedules; runs that are not recorded are lost."""
        self.leave_known()
        memset(self.states, 0, sizeof(self.states))
        memset(self.schedules, 0, sizeof(self.schedules))
        self.listed, self.used, self.full = NULL, 0, False
        self.flushes += 1

    cdef void* room(self, uint64_t size) noexcept nogil:
        """Returns memory for a state or a schedule; NULL: all have to be forgotten first."""
        cdef void* made = self.memory + self.used
        size = (size + 15) & ~<uint64_t>15
        if self.used + size > MEMO_BYTES:
            self.full = True
            return NULL
        self.used += size
        return made

    cdef bint is_new(self, uint64_t hash) noexcept nogil:
        """Whether a state or a schedule has not occurred lately; notes that it did."""
        cdef uint16_t* tag = &self.seen[hash % MEMO_SEEN]
        cdef uint16_t wanted = <uint16_t>(hash >> 48)
        if tag[0] == wanted:
            return False
        tag[0] = wanted
        return True

    def set_figures(self, figures):
        """Sets the figures of the core, by name: those of `CoreFigures`, buffers by their entries."""
        cdef CoreFigures* to = &self.figures
        cdef uint32_t i
        to.width, to.lead = figures["width"], QUARTER * figures["lead"]
        for i, latency in enumerate(figures["levels"]):
            to.level[i], to.fill[i] = latency, max(figures["fill_busy"], -(-latency // figures["fill_buffers"]))
        to.bus, to.ring, to.walk = figures["bus"], figures["ring"], figures["walk"]
        to.split_busy, to.partial_flags = figures["split_busy"], figures["partial_flags"]
        to.walker = -(-figures["walk"] // figures["page_walkers"])
        to.blocked, to.alias = figures["blocked"], figures["alias"]
        to.store_split, to.store_page_split = figures["store_split"], figures["store_page_split"]
        to.split, to.page_split, to.translation = figures["split"], figures["page_split"], figures["translation"]
        to.mispredict, to.redirect, to.lock = figures["mispredict"], figures["redirect"], figures["lock"]
        put_uop(&to.load, figures["load_ports"])
        put_uop(&to.store_address[0], figures["store_address_ports"])
        put_uop(&to.store_address[1], figures["indexed_ports"])
        put_uop(&to.store_data, figures["store_data_ports"])
        for i, (entries, hidden) in enumerate(figures["buffers"]):
            to.buffers[i].group = -(-entries // BUFFER_GROUPS)
            to.buffers[i].groups = entries // to.buffers[i].group
            to.buffers[i].hidden = hidden

    # --- states

    cdef void enter_state(self) noexcept nogil:
        """Makes the current state a known one, if it occurred before."""
        cdef const uint64_t* words = <const uint64_t*>&self.state
        cdef uint64_t bytes = state_bytes(&self.state), hash = state_hash(words, bytes // 8)
        cdef KnownState** place = &self.states[hash % MEMO_TABLE]
        cdef KnownState* found = place[0]
        while found != NULL:
            if found.hash == hash and found.bytes == bytes and memcmp(found + 1, words, bytes) == 0:
                self.known, self.last = found, &self.nothing
                return
            found = found.next
        if self.is_new(hash):
            return
        found = <KnownState*>self.room(sizeof(KnownState) + bytes)
        if found != NULL:
            found.hash, found.bytes, found.next = hash, bytes, place[0]
            memcpy(found + 1, words, bytes)
            place[0] = found
            self.known, self.last = found, &self.nothing

    cdef void leave_known(self) noexcept nogil:
        """Makes the known state the current one's bytes."""
        if self.known != NULL:
            memcpy(&self.state, self.known + 1, self.known.bytes)
            memset(<char*>&self.state + self.known.bytes, 0, sizeof(CoreState) - self.known.bytes)
            self.known, self.last = NULL, &self.nothing

    # --- schedules

    cdef KnownSchedule* find(self, uint64_t key) noexcept nogil:
        """Returns the schedule of a key from the known state; NULL: there is none. Links it behind the last one."""
        cdef KnownSchedule* found = self.last.following[1]
        if found.key != key:
            if self.known == NULL:
                return NULL
            self.lookups += 1
            found = self.schedules[mixed(key, self.known.hash) % MEMO_TABLE]
            while found != NULL and (found.key != key or found.before != self.known):
                found = found.next
            if found == NULL:
                return NULL
        self.link(self.last, found)
        return found

    cdef void link(self, KnownSchedule* last, KnownSchedule* schedule) noexcept nogil:
        """Notes the schedule that follows another one."""
        if last != &self.nothing:
            last.following[1], last.following[0] = last.following[0], schedule

    cdef void compute(self, uint64_t key, const CoreBlock* block, const Response* responses, uint32_t count,
                      uint32_t end) noexcept nogil:
        """Computes the schedule of a block from the current state, and runs it."""
        cdef KnownState* before = self.known
        cdef KnownSchedule* last = self.last
        self.computations += 1
        self.leave_known()
        schedule_block(&self.figures, &self.state, block, responses, count, end, &self.computed)
        if self.remembers:
            self.enter_state()
            if before != NULL and self.known != NULL and not self.is_new(mixed(key, before.hash)):
                self.keep(key, block, before, last)

    cdef void keep(self, uint64_t key, const CoreBlock* block, KnownState* before, KnownSchedule* last) noexcept nogil:
        """Keeps what was computed, as the schedule that leads from one known state to another."""
        cdef const CoreAccess* accesses = core_accesses_of(block)
        cdef uint32_t stores = 0, i
        cdef KnownSchedule* made
        cdef KnownSchedule** place = &self.schedules[mixed(key, before.hash) % MEMO_TABLE]
        for i in range(block.accesses):
            stores += accesses[i].writes
        made = <KnownSchedule*>self.room(sizeof(KnownSchedule) + self.computed.delays * sizeof(Delay)
                                         + stores * sizeof(StoreTimes))
        if made == NULL:
            return
        made.key, made.before, made.after, made.block = key, before, self.known, block.number
        made.following[0] = made.following[1] = &self.nothing
        made.cycles, made.lag = self.computed.cycles, self.state.retired
        made.delays, made.stores, made.runs = <uint16_t>self.computed.delays, <uint16_t>stores, 0
        memcpy(delays_of(made), self.computed.delay, self.computed.delays * sizeof(Delay))
        stores = 0
        for i in range(block.accesses):
            if accesses[i].writes:
                stores_of(made)[stores] = self.computed.store[i]
                stores += 1
        made.next, place[0] = place[0], made
        self.link(last, made)
        self.last = made


cdef inline uint64_t state_hash(const uint64_t* words, uint64_t count) noexcept nogil:
    """Returns a hash of words, whose number is divisible by LANES."""
    cdef uint64_t lane[LANES]
    cdef uint64_t i, k
    for k in range(LANES):
        lane[k] = count + k
    i = 0
    while i < count:
        for k in range(LANES):
            lane[k] = (lane[k] ^ words[i + k]) * <uint64_t>0x9E3779B97F4A7C15
            lane[k] ^= lane[k] >> 32
        i += LANES
    return mixed(mixed(mixed(lane[0], lane[1]), lane[2]), lane[3])


cdef int put_uop(CoreUop* to, ports) except -1:
    """Sets the ports of a µop."""
    cdef uint32_t i
    to.busy, to.count = 1, len(ports)
    for i in range(to.count):
        to.port[i] = ports[i]
    return 0
