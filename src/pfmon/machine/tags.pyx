"""Tag stores of any number of sets and ways, with least recently used, NRU, tree and random replacement."""

from libc.stdlib cimport calloc, free

cdef uint64_t NO_NUMBER = <uint64_t>-1
cdef uint64_t SEED = 0x9E3779B97F4A7C15
cdef enum:
    HINTS_A_TAG = 4
    LEAST_HINTS = 1024

POLICIES = {"lru": POLICY_LRU, "nru": POLICY_NRU, "plru": POLICY_PLRU, "random": POLICY_RANDOM}
STATES = {INVALID: "I", SHARED: "S", EXCLUSIVE: "E", MODIFIED: "M"}


cdef class TagStore:
    """``sets`` x ``ways`` tags for addresses, ``shift`` bits of which are an offset; policy by name (`POLICIES`).

    A number's set is its remainder by the number of sets (for a power of two: its low bits, Montecito manual
    table 2-9).
    """

    def __cinit__(self, sets: int, ways: int, shift: int, policy: str):
        cdef uint64_t hints = LEAST_HINTS
        self.sets, self.ways, self.shift = sets, ways, shift
        self.set_mask = 0 if sets & (sets - 1) else sets - 1
        self.policy = POLICIES[policy]
        self.generator = SEED
        while hints < sets * ways * HINTS_A_TAG:
            hints *= 2
        self.hint_mask = hints - 1
        self.tags = <Tag*>calloc(sets * ways, sizeof(Tag))
        self.hints = <uint32_t*>calloc(hints, sizeof(uint32_t))
        self.used = <uint16_t*>calloc(sets, sizeof(uint16_t))
        self.trees = <uint64_t*>calloc(sets, sizeof(uint64_t))
        if self.tags == NULL or self.hints == NULL or self.used == NULL or self.trees == NULL:
            raise MemoryError
        for place in range(sets * ways):
            self.tags[place].number = NO_NUMBER

    def __dealloc__(self):
        free(self.tags)
        free(self.hints)
        free(self.used)
        free(self.trees)

    cdef uint64_t set_of(self, uint64_t number) noexcept nogil:
        if self.set_mask or self.sets == 1:
            return number & self.set_mask
        return number % self.sets

    cdef int64_t find(self, uint64_t address) noexcept nogil:
        return quick_find(self, address)

    cdef int64_t search(self, uint64_t number) noexcept nogil:
        cdef uint64_t first = self.set_of(number) * self.ways
        cdef uint64_t place
        for place in range(first, first + self.ways):
            if self.tags[place].number == number:
                self.hints[number & self.hint_mask] = <uint32_t>place
                return <int64_t>place
        return ABSENT

    cdef void touch(self, int64_t place) noexcept nogil:
        cdef uint64_t first, way
        if self.policy == POLICY_LRU:
            self.clock += 1
            self.tags[place].stamp = self.clock
        elif self.policy == POLICY_NRU:
            if not self.tags[place].used:
                use_bit(self, place)
        elif self.policy == POLICY_PLRU:
            point_away(self, place)

    cdef bint touch_early(self, int64_t place) noexcept nogil:
        if self.policy == POLICY_NRU and not self.tags[place].used:
            if self.used[<uint64_t>place // self.ways] + 1 == self.ways:
                return 0         # would clear the other bits: a touch repeated later would not see the same
        self.touch(place)
        return 1

    cdef int64_t victim(self, uint64_t address) noexcept nogil:
        cdef uint64_t chosen_set = self.set_of(address >> self.shift)
        cdef uint64_t first = chosen_set * self.ways
        cdef uint64_t place, best = first
        for place in range(first, first + self.ways):
            if self.tags[place].number == NO_NUMBER:
                return <int64_t>place
        if self.policy == POLICY_LRU:
            for place in range(first + 1, first + self.ways):
                if self.tags[place].stamp < self.tags[best].stamp:
                    best = place
        elif self.policy == POLICY_NRU:
            while best < first + self.ways - 1 and self.tags[best].used:
                best += 1
        elif self.policy == POLICY_PLRU:
            best = first + pointed_at(self.trees[chosen_set], self.ways)
        else:
            self.generator ^= self.generator << 13
            self.generator ^= self.generator >> 7
            self.generator ^= self.generator << 17
            best = first + self.generator % self.ways
        return <int64_t>best

    cdef void put(self, int64_t place, uint64_t address, int state, int64_t ready, bint recent) noexcept nogil:
        cdef Tag* tag = &self.tags[place]
        self.clear(place)
        tag.number = address >> self.shift
        tag.state = <uint8_t>state
        tag.ready = ready
        tag.mark = 0
        self.hints[tag.number & self.hint_mask] = <uint32_t>place
        if recent:
            self.touch(place)

    cdef void clear(self, int64_t place) noexcept nogil:
        cdef Tag* tag = &self.tags[place]
        tag.number = NO_NUMBER
        tag.state = INVALID
        tag.stamp = 0
        if tag.used:
            tag.used = 0
            self.used[<uint64_t>place // self.ways] -= 1

    # For tests and tools.

    def probe(self, address: int) -> tuple[str, int] | None:
        """State (a letter of MESI) and the cycle in which the line came; None if it is not there. No effect."""
        cdef int64_t place = self.find(address)
        if place == ABSENT:
            return None
        return STATES[self.tags[place].state], self.tags[place].ready

    def use(self, address: int, early: bool = False) -> bool:
        """A use: whether it was there; if not, it is brought in. ``early``: as `touch_early`, and never brought in."""
        cdef int64_t place = self.find(address)
        if early:
            return place != ABSENT and self.touch_early(place)
        if place != ABSENT:
            self.touch(place)
            return True
        self.put(self.victim(address), address, EXCLUSIVE, 0, True)
        return False

    def contents(self) -> list[list[int | None]]:
        """The numbers held, by set and way; None is a free place."""
        def number(place: int) -> int | None:
            return None if self.tags[place].number == NO_NUMBER else self.tags[place].number
        return [[number(first + way) for way in range(self.ways)] for first in range(0, self.sets * self.ways, self.ways)]


cdef void use_bit(TagStore store, int64_t place) noexcept nogil:
    """NRU: the bit of ``place`` is set; if it was the last clear one, the others are cleared."""
    cdef uint64_t chosen_set = <uint64_t>place // store.ways
    cdef uint64_t other
    store.used[chosen_set] += 1
    if store.used[chosen_set] == store.ways:
        for other in range(chosen_set * store.ways, (chosen_set + 1) * store.ways):
            store.tags[other].used = 0
        store.used[chosen_set] = 1
    store.tags[place].used = 1


cdef void point_away(TagStore store, int64_t place) noexcept nogil:
    """PLRU: the bits on the way to ``place`` point to the other side. Bit n has the children 2n, 2n+1; the root is 1."""
    cdef uint64_t chosen_set = <uint64_t>place // store.ways
    cdef uint64_t way = <uint64_t>place - chosen_set * store.ways
    cdef uint64_t node = 1, size = store.ways, tree = store.trees[chosen_set]
    while size > 1:
        size >>= 1
        if way & size:
            tree &= ~(<uint64_t>1 << node)
            node = 2 * node + 1
        else:
            tree |= <uint64_t>1 << node
            node = 2 * node
    store.trees[chosen_set] = tree


cdef uint64_t pointed_at(uint64_t tree, uint64_t ways) noexcept nogil:
    """PLRU: the way that the bits lead to."""
    cdef uint64_t node = 1, size = ways, way = 0
    while size > 1:
        size >>= 1
        if tree >> node & 1:
            way |= size
            node = 2 * node + 1
        else:
            node = 2 * node
    return way


def cache_tags(config, name: str) -> TagStore:
    """The tags of a cache: ``NAME.size``, ``NAME.ways``, ``NAME.line``, ``NAME.replacement`` of a machine."""
    line = config[f"{name}.line"]
    sets = config[f"{name}.size"] // (line * config[f"{name}.ways"])
    return TagStore(sets, config[f"{name}.ways"], line.bit_length() - 1, config[f"{name}.replacement"])
