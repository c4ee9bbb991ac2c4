"""Schedules that were computed before, by the state in which a block began, its responses from memory and its end.

A schedule follows from these alone. States recur: in a loop after a few
iterations, and behind each mispredicted branch. So most blocks are looked up: the schedule that ran last has the two that
followed it last. With memory for no more, all are forgotten.
"""

cimport cython
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

cdef enum:
    MEMO_PIECE = 1 << 20         # bytes of memory that are taken at once
    MEMO_TABLE = 1 << 17
    NO_KEY = 0xFFFFFFFFFFFFFFFF


@cython.final
cdef class ScheduleMemo:
    """``remembers``: False: each block is computed."""

    def __cinit__(self, bint remembers=True):
        self.remembers, self.table_size = remembers, MEMO_TABLE
        self.states = <KnownState**>calloc(MEMO_TABLE, sizeof(void*))
        self.schedules = <KnownSchedule**>calloc(MEMO_TABLE, sizeof(void*))
        if self.states == NULL or self.schedules == NULL:
            raise MemoryError
        self.nothing.key = NO_KEY
        self.nothing.following[0] = self.nothing.following[1] = &self.nothing
        self.last = &self.nothing

    def __dealloc__(self):
        self.release()
        free(self.states)
        free(self.schedules)

    cdef void release(self) noexcept nogil:
        """Releases the memory of states and schedules."""
        cdef char* before
        while self.pieces != NULL:
            before = (<char**>self.pieces)[0]
            free(self.pieces)
            self.pieces = before
        self.used = self.piece_used = 0

    cdef void forget(self) noexcept nogil:
        """Forgets all schedules; runs that are not recorded are lost."""
        self.leave_known()
        self.release()
        memset(self.states, 0, self.table_size * sizeof(void*))
        memset(self.schedules, 0, self.table_size * sizeof(void*))
        self.listed, self.last = NULL, &self.nothing
        self.state_count = self.schedule_count = 0

    cdef void* room(self, uint64_t size) noexcept nogil:
        """Returns memory for a state or a schedule; NULL: there is none."""
        cdef char* piece
        cdef void* made
        size = (size + 15) & ~<uint64_t>15
        if self.pieces == NULL or self.piece_used + size > MEMO_PIECE:
            piece = <char*>malloc(MEMO_PIECE)
            if piece == NULL:
                self.lost = True
                return NULL
            (<char**>piece)[0] = self.pieces
            self.pieces, self.piece_used = piece, 64
            self.used += MEMO_PIECE
        made = self.pieces + self.piece_used
        self.piece_used += size
        return made

    def set_figures(self, figures):
        """Sets the figures of the core, by name: those of `CoreFigures`, buffers by their entries."""
        cdef CoreFigures* to = &self.figures
        cdef uint32_t i
        to.width, to.lead = figures["width"], QUARTER * figures["lead"]
        for i, latency in enumerate(figures["levels"]):
            to.level[i], to.fill[i] = latency, max(figures["fill_busy"], -(-latency // figures["fill_buffers"]))
        to.bus, to.walk = figures["bus"], figures["walk"]
        to.walker = -(-figures["walk"] // figures["page_walkers"])
        to.forward, to.blocked, to.alias = figures["forward"], figures["blocked"], figures["alias"]
        to.split, to.page_split, to.translation = figures["split"], figures["page_split"], figures["translation"]
        to.mispredict, to.redirect, to.lock = figures["mispredict"], figures["redirect"], figures["lock"]
        to.string_start, to.string_bytes = figures["string_start"], figures["string_bytes"]
        put_uop(&to.load, figures["load_ports"])
        put_uop(&to.store_address, figures["store_address_ports"])
        put_uop(&to.store_data, figures["store_data_ports"])
        for i, (entries, hidden) in enumerate(figures["buffers"]):
            to.buffers[i].group = -(-entries // BUFFER_GROUPS)
            to.buffers[i].groups = entries // to.buffers[i].group
            to.buffers[i].hidden = hidden

    # --- states

    cdef KnownState* enter_state(self) noexcept nogil:
        """Returns the known state that equals the current one."""
        cdef const uint64_t* words = <const uint64_t*>&self.state
        cdef uint64_t bytes = state_bytes(&self.state), hash = bytes, i
        cdef KnownState* found
        cdef KnownState** place
        for i in range(bytes // 8):
            hash = mixed(hash, words[i])
        place = &self.states[(hash ^ hash >> 32) % self.table_size]
        found = place[0]
        while found != NULL:
            if found.hash == hash and found.bytes == bytes and memcmp(found + 1, words, bytes) == 0:
                return found
            found = found.next
        found = <KnownState*>self.room(sizeof(KnownState) + bytes)
        if found != NULL:
            found.hash, found.bytes, found.next = hash, bytes, place[0]
            memcpy(found + 1, words, bytes)
            place[0] = found
            self.state_count += 1
        return found

    cdef void leave_known(self) noexcept nogil:
        """Makes the known state the current one's bytes."""
        if self.known != NULL:
            memset(&self.state, 0, sizeof(CoreState))
            memcpy(&self.state, self.known + 1, self.known.bytes)
            self.known, self.last = NULL, &self.nothing

    cdef void become_known(self) noexcept nogil:
        """Looks the current state up among the known ones."""
        if self.known == NULL and self.remembers:
            self.known, self.last = self.enter_state(), &self.nothing

    # --- schedules

    cdef KnownSchedule* find(self, uint64_t key) noexcept nogil:
        """Returns the schedule of a key from the known state; NULL: there is none. Links it behind the last one."""
        cdef KnownSchedule* found = self.last.following[1]
        self.lookups += 1
        if found.key == key:
            self.link(found)
            return found
        self.direct += 1
        found = self.schedules[mixed(key, <uint64_t>self.known) % self.table_size]
        while found != NULL:
            if found.key == key and found.before == self.known:
                self.link(found)
                return found
            found = found.next
        return NULL

    cdef void link(self, KnownSchedule* schedule) noexcept nogil:
        """Notes the schedule that follows the last one."""
        if self.last != &self.nothing:
            self.last.following[1], self.last.following[0] = self.last.following[0], schedule

    cdef KnownSchedule* compute(self, uint64_t key, const CoreBlock* block, const Response* responses, uint32_t count,
                                uint32_t end) noexcept nogil:
        """Computes the schedule of a block from the known state, and runs it; NULL: it could not be kept, and is in
        `computed`."""
        cdef KnownState* before = self.known
        cdef KnownSchedule* last = self.last
        cdef KnownSchedule* made
        self.misses += 1
        self.leave_known()
        self.compute_once(block, responses, count, end)
        self.become_known()
        made = self.keep(key, block, before) if self.known != NULL else NULL
        if made == NULL:
            return NULL
        self.last = last
        self.link(made)
        made.runs, made.listed, self.listed, self.last = 1, self.listed, made, made
        return made

    cdef void compute_once(self, const CoreBlock* block, const Response* responses, uint32_t count, uint32_t end) noexcept nogil:
        """Computes the schedule of a block from a state that is not known."""
        schedule_block(&self.figures, &self.state, block, responses, count, end, &self.computed)

    cdef KnownSchedule* keep(self, uint64_t key, const CoreBlock* block, KnownState* before) noexcept nogil:
        """Keeps what was computed, as the schedule that leads to the known state; NULL: there is no memory."""
        cdef const CoreAccess* accesses = core_accesses_of(block)
        cdef uint32_t stores = 0, i
        cdef KnownSchedule* made
        cdef KnownSchedule** place = &self.schedules[mixed(key, <uint64_t>before) % self.table_size]
        for i in range(block.accesses):
            stores += accesses[i].writes
        made = <KnownSchedule*>self.room(sizeof(KnownSchedule) + self.computed.delays * sizeof(Delay)
                                         + stores * sizeof(StoreTimes))
        if made == NULL:
            return NULL
        made.key, made.before, made.after, made.block = key, before, self.known, block.number
        made.following[0] = made.following[1] = &self.nothing
        made.cycles, made.lag = self.computed.cycles, (<const CoreState*>(self.known + 1)).retired
        made.delays, made.stores = <uint16_t>self.computed.delays, <uint16_t>stores
        memcpy(delays_of(made), self.computed.delay, self.computed.delays * sizeof(Delay))
        stores = 0
        for i in range(block.accesses):
            if accesses[i].writes:
                stores_of(made)[stores] = self.computed.store[i]
                stores += 1
        made.next, place[0] = place[0], made
        self.schedule_count += 1
        return made


cdef int put_uop(CoreUop* to, ports) except -1:
    """Sets the ports of a µop."""
    cdef uint32_t i
    to.busy, to.count = 1, len(ports)
    for i in range(to.count):
        to.port[i] = ports[i]
    return 0


def dump_states(ScheduleMemo memo, path, most):
    cdef uint64_t i
    cdef KnownState* s
    n = 0
    with open(path, "wb") as f:
        for i in range(memo.table_size):
            s = memo.states[i]
            while s != NULL:
                data = (<const char*>(s + 1))[:s.bytes]
                f.write(data + bytes(sizeof(CoreState) - s.bytes))
                n += 1
                if n >= most:
                    return sizeof(CoreState)
                s = s.next
    return sizeof(CoreState)
