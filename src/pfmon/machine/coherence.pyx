"""MESI between two cores that share memory: what a request on the bus does to the other core's caches.

A read leaves what the other one has in state S; a modified line is written back with it. Who wants a line alone takes it
from the other one. A coherence request takes the line from L1I and L2I; what asks for code makes none there (Montecito
manual 2.3.3.2, 2.7.4). There is no way between the cores but the bus (2.5).
"""

from libc.stdint cimport int64_t, uint64_t

from pfmon.machine.tags cimport ABSENT, INVALID, SHARED, quick_find


cdef class SnoopedCaches(Snooper):
    """The caches of a core."""

    def __cinit__(self, L2 l2, InstructionFetch fetch):
        self.l2, self.fetch = l2, fetch

    cdef int snoop(self, uint64_t address, bint invalidate, bint fetches) noexcept nogil:
        cdef int found = self.look(self.l2.l3.tags, address, invalidate)
        cdef int inner = self.look(self.l2.data, address, invalidate)
        cdef uint64_t line = address >> self.l2.data.shift << self.l2.data.shift, part = line
        cdef int64_t place
        if inner != INVALID and invalidate and self.l2.first_level is not None:
            while part < line + (<uint64_t>1 << self.l2.data.shift):
                place = quick_find(self.l2.first_level, part)
                if place != ABSENT:
                    self.l2.first_level.clear(place)
                part += <uint64_t>1 << self.l2.first_level.shift
        if not fetches:
            self.drop_code(line)
        return found if found > inner else inner

    cdef int look(self, TagStore store, uint64_t address, bint invalidate) noexcept nogil:
        """The state of a line in a cache, which it loses, or leaves for S."""
        cdef int64_t place = quick_find(store, address)
        cdef int state
        if place == ABSENT:
            return INVALID
        state = store.infos[place].state
        if invalidate:
            store.clear(place)
        else:
            store.infos[place].state = SHARED
        return state

    cdef void drop_code(self, uint64_t address) noexcept nogil:
        cdef int64_t place
        cdef uint64_t part = address
        if not self.l2.split:
            return
        place = quick_find(self.l2.code, address)
        if place != ABSENT:
            self.l2.code.clear(place)
        while part < address + (<uint64_t>1 << self.l2.code.shift):
            self.fetch.drop(part)
            part += self.fetch.line
