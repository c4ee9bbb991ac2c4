"""Coherence of the private caches of several cores, line by line: MESI.

A core has a line if its L1D, L1I or its own L2 has it. A read that misses in them leaves the line shared by all cores that
have it, and one that had modified it writes it to the last level; a read for ownership, of a store, takes it away from
the others. A store to a line that is shared asks for ownership. A line that no other core had is the core's own
(exclusive): a store modifies it without a request.

Each line of an inclusive L3 has a bit for each core that may have it (core valid bits: Nehalem, Optimization
Reference Manual, "Cache and memory subsystem"). A read asks another core only if that is the single one with a bit, as only
then it may have modified the line; ownership asks all with a bit. A core that replaces a line unmodified keeps its bit. Without an
inclusive L3 all cores are asked.
"""

cimport cython
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cdef enum:
    FIRST_SNOOPED = 1 << 10      # places of the hash table; doubled whenever half are used

cdef uint64_t MIXER = 0x9E3779B97F4A7C15ULL


@cython.final
cdef class CoherentCaches:
    """Of so many ``cores``; ``inclusive``: they share an L3 with the lines of all of them."""

    def __cinit__(self, uint32_t cores, bint inclusive):
        if not 0 < cores <= MAX_CORES:
            raise ValueError(f"{cores} cores: there is room for {MAX_CORES}")
        self.cores, self.inclusive = cores, inclusive
        memset(self.caches, 0, sizeof(self.caches))

    def __dealloc__(self):
        free(self.snooped)

    cdef uint32_t request(self, uint32_t core, uint64_t line, LruLine* last, bint owns, bint* shared) noexcept nogil:
        """Answers a core's request for a line. ``last``: where the last level has it, or NULL; ``shared``: whether other
        cores have it from then on."""
        cdef uint64_t had = 0
        cdef uint32_t answer = SNOOP_NONE, other, one
        for other in range(self.cores):
            if other == core or not self.may_have(core, other, last, owns):
                continue
            one = self.snoop(other, line, owns)
            answer = max(answer, one)
            had |= <uint64_t>(one > SNOOP_MISS) << other
        shared[0] = not owns and (had != 0 or self.has_shared(core, line))
        if self.inclusive and last != NULL:
            if answer == SNOOP_NONE and not owns:        # nobody has modified it
                had = cores_of(last)
                shared[0] |= had & ~(<uint64_t>1 << core) != 0
            had = (0 if owns else had) | <uint64_t>1 << core
            last.ready = <int64_t>(had << LINE_TIME) | (last.ready & LINE_MODIFIED)
        if last != NULL and answer == SNOOP_HITM:
            last.ready |= LINE_MODIFIED
        if owns:
            self.caches[core].ownerships[answer] += 1
        else:
            self.caches[core].requests[answer] += 1
        return answer

    cdef bint has_shared(self, uint32_t core, uint64_t line) noexcept nogil:
        """Whether a core's L1D has a line as shared: it is requested for L2 or L1I."""
        cdef const LruLine* found = find(&self.caches[core].l1d, line)
        return found != NULL and is_shared(found)

    cdef bint may_have(self, uint32_t core, uint32_t other, const LruLine* last, bint owns) noexcept nogil:
        """Whether another core is asked for a line."""
        if not self.inclusive:
            return True
        if last == NULL:
            return False
        if owns:
            return cores_of(last) >> other & 1
        return cores_of(last) == <uint64_t>1 << other

    cdef uint32_t snoop(self, uint32_t other, uint64_t line, bint owns) noexcept nogil:
        """Asks a core for a line: it loses the line to an owner, else shares it."""
        cdef PrivateCaches* caches = &self.caches[other]
        cdef LruLine* data = find(&caches.l1d, line)
        cdef LruLine* below = NULL if caches.l2.lines == NULL else find(&caches.l2, line)
        cdef LruLine* code = find(&caches.l1i, line)
        cdef bint modified = (data != NULL and is_modified(data)) or (below != NULL and is_modified(below))
        if data == NULL and below == NULL and code == NULL:
            return SNOOP_MISS
        if owns:
            caches.invalidated += 1
            drop_line(caches, line)
        else:
            if data != NULL:
                share_line(data)
            if below != NULL:
                share_line(below)
        return SNOOP_HITM if modified else SNOOP_HIT

    cdef bint drop(self, uint64_t line) noexcept nogil:
        """Takes a line from the private caches of all cores; returns whether one had modified it."""
        cdef bint modified = False
        cdef uint32_t core
        for core in range(self.cores):
            modified |= drop_line(&self.caches[core], line)
        return modified

    # --- which accesses get lines that another core had modified

    def watch(self) -> None:
        """Keeps them from now on."""
        self.snooped = <SnoopedAccess*>calloc(FIRST_SNOOPED, sizeof(SnoopedAccess))
        if self.snooped == NULL:
            raise MemoryError
        self.snooped_room, self.watches = FIRST_SNOOPED, True

    cdef void note(self, uint64_t instruction, uint64_t address, bint owns) noexcept nogil:
        """Keeps an access of the current thread."""
        cdef SnoopedAccess wanted
        cdef SnoopedAccess* found
        if 2 * self.snooped_count >= self.snooped_room and not self.grow():
            self.lost = True
            return
        wanted.address, wanted.instruction, wanted.thread = address, instruction, self.thread
        wanted.loads = wanted.owned = 0
        found = self.place_of(&wanted)
        if found.address == 0:
            found[0] = wanted
            self.snooped_count += 1
        if owns:
            found.owned += 1
        else:
            found.loads += 1

    cdef SnoopedAccess* place_of(self, const SnoopedAccess* wanted) noexcept nogil:
        """Returns where these accesses are counted, or a free place for them."""
        cdef uint64_t mixed = (wanted.address * MIXER ^ wanted.instruction) * MIXER ^ wanted.thread
        cdef uint64_t place = mixed * MIXER >> 20 & (self.snooped_room - 1)
        cdef SnoopedAccess* one = &self.snooped[place]
        while one.address and (one.address != wanted.address or one.instruction != wanted.instruction
                               or one.thread != wanted.thread):
            place = (place + 1) & (self.snooped_room - 1)
            one = &self.snooped[place]
        return one

    cdef bint grow(self) noexcept nogil:
        """Doubles the hash table; False: there is no memory."""
        cdef SnoopedAccess* before = self.snooped
        cdef SnoopedAccess* more = <SnoopedAccess*>calloc(2 * self.snooped_room, sizeof(SnoopedAccess))
        cdef uint64_t i, room = self.snooped_room
        if more == NULL:
            return False
        self.snooped, self.snooped_room = more, 2 * room
        for i in range(room):
            if before[i].address:
                self.place_of(&before[i])[0] = before[i]
        free(before)
        return True

    def modified_elsewhere(self) -> list[tuple[int, int, int, int, int, int]]:
        """(address, block, number of the instruction in it, thread, loads, stores) of the accesses that got a line which
        another core had modified; of the address in the line. MemoryError: there was no memory for some."""
        if self.lost:
            raise MemoryError
        return sorted([
            (self.snooped[i].address, self.snooped[i].instruction >> 8, self.snooped[i].instruction & 0xFF,
             self.snooped[i].thread, self.snooped[i].loads, self.snooped[i].owned)
            for i in range(self.snooped_room) if self.snooped[i].address
        ])

    def counts(self) -> list[dict[str, int]]:
        """Answers to the requests of each core, and the lines that it lost to stores of others."""
        names = ("none", "miss", "hit", "hitm")
        return [
            {f"read_{name}": self.caches[core].requests[place] for place, name in enumerate(names)}
            | {f"own_{name}": self.caches[core].ownerships[place] for place, name in enumerate(names)}
            | {"invalidated": self.caches[core].invalidated}
            for core in range(self.cores)
        ]


cdef bint drop_line(PrivateCaches* caches, uint64_t line) noexcept nogil:
    """Takes a line from the private caches of a core; returns whether it was modified."""
    cdef bint modified = remove_number(&caches.l1d, line)
    remove_number(&caches.l1i, line)
    if caches.l2.lines != NULL:
        modified |= remove_number(&caches.l2, line)
    return modified
