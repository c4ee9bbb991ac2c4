"""MESI between two cores that share memory: effects of a bus request on the other core's caches.

A read leaves the other core's line in state S; a modified line is written back with it. A request for ownership
invalidates it. A coherence request invalidates the line in L1I and L2I; a fetch of code causes none there (Montecito
manual 2.3.3.2, 2.7.4). The cores are connected by the bus alone (2.5).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset


cdef class SnoopedCaches(Snooper):
    """The caches of a core. Their snoop responses are recorded by that core, between two blocks of its own."""

    def __cinit__(self, L2 l2, InstructionFetch fetch, bint same_memory=True):
        """``same_memory``: equal addresses name the same line; else the other core's lines are never here."""
        self.l2, self.fetch, self.same_memory = l2, fetch, same_memory

    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches, int64_t now) noexcept nogil:
        cdef uint64_t line = address >> self.l2.data.shift << self.l2.data.shift
        cdef bint asks_code = not fetches and self.l2.split
        cdef int found = INVALID
        self.responses[RESPONSE_CODE] += asks_code
        if self.same_memory:
            found = self.snoop_data_caches(line, invalidate)
            self.snoop_writeback_buffer(line, now)
            if asks_code:
                self.drop_code(line)
        self.responses[RESPONSE_HITM if found == MODIFIED else RESPONSE_HIT if found != INVALID else RESPONSE_MISS] += 1
        self.has_responses = True
        self.l2.l3.bus.snooped(now)
        return found

    cdef int snoop_data_caches(self, uint64_t line, bint invalidate) noexcept nogil:
        """Invalidates a line in the data caches, or leaves it in state S; returns the state in which it was found."""
        cdef int found = self.snoop_tags(self.l2.l3.tags, line, invalidate)
        cdef int inner = self.snoop_tags(self.l2.data, line, invalidate)
        cdef uint64_t part = line
        cdef int64_t entry
        if inner != INVALID and invalidate and self.l2.victims.first_level is not None:
            while part < line + (<uint64_t>1 << self.l2.data.shift):
                entry = quick_find(self.l2.victims.first_level, part)
                if entry != ABSENT:
                    self.l2.victims.first_level.clear(entry)
                part += <uint64_t>1 << self.l2.victims.first_level.shift
        return found if found > inner else inner

    cdef void snoop_writeback_buffer(self, uint64_t line, int64_t now) noexcept nogil:
        """Handles a request for a line in the write-back buffer."""
        self.responses[RESPONSE_WRITE] += has_writeback(&self.l2.l3.bus.lines_written, line, now)
        self.responses[RESPONSE_CASTOUT] += has_writeback(&self.l2.l3.bus.lines_cast_out, line, now)

    cdef void record_responses(self, EventLog* event_log) noexcept nogil:
        cdef uint32_t response
        for response in range(RESPONSES):
            if self.responses[response]:
                record(event_log, Occurrence.SNOOPED_MISS + response, self.responses[response])
        self.forget_responses()

    cdef void forget_responses(self) noexcept nogil:
        memset(self.responses, 0, sizeof(self.responses))
        self.has_responses = False


    cdef int snoop_tags(self, TagStore store, uint64_t address, bint invalidate) noexcept nogil:
        """Looks up a line in a cache and invalidates it, or leaves it in S; returns its state."""
        cdef int64_t entry = quick_find(store, address)
        cdef int state
        if entry == ABSENT:
            return INVALID
        state = store.infos[entry].state
        if invalidate:
            store.clear(entry)
        else:
            store.infos[entry].state = SHARED
        return state

    cdef void drop_code(self, uint64_t address) noexcept nogil:
        cdef int64_t entry
        cdef uint64_t part = address
        entry = quick_find(self.l2.code, address)
        if entry != ABSENT:
            self.responses[RESPONSE_L2I_HIT] += 1
            self.l2.code.clear(entry)
        while part < address + (<uint64_t>1 << self.l2.code.shift):
            self.fetch.drop(part)
            part += self.fetch.line

    # For tests.

    def by_name(self) -> dict[str, int]:
        """Snoop responses not recorded yet, by the name of the occurrence."""
        return {Occurrence(<int>Occurrence.SNOOPED_MISS + response).name: self.responses[response]
                for response in range(RESPONSES)}
