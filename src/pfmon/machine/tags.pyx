"""Tag stores of any number of sets and ways, with least recently used, NRU, tree and random replacement."""

from libc.stdlib cimport calloc, free

cdef uint64_t NO_NUMBER = <uint64_t>-1
cdef uint64_t SEED = 0x9E3779B97F4A7C15
cdef enum:
    HINTS_A_PLACE = 4
    LEAST_HINTS = 1024
    BLOCK = 4
    MANY_WAYS = 24               # from these on the oldest are remembered
    WORD_BITS = 1 << WORD_SHIFT

POLICIES = {"lru": POLICY_LRU, "nru": POLICY_NRU, "plru": POLICY_PLRU, "random": POLICY_RANDOM}
STATES = {INVALID: "I", SHARED: "S", EXCLUSIVE: "E", MODIFIED: "M"}


cdef inline bint in_block(const uint64_t* numbers, uint64_t number) noexcept nogil:
    return (numbers[0] == number) | (numbers[1] == number) | (numbers[2] == number) | (numbers[3] == number)


cdef class TagStore:
    """``sets`` x ``ways`` tags for addresses, ``shift`` bits of which are an offset; policy by name (`POLICIES`).

    A number's set is its remainder by the number of sets (for a power of two: its low bits, Montecito manual
    table 2-9). ``hinted``: where numbers were found is remembered, which pays where most are found.
    """

    def __cinit__(self, sets: int, ways: int, shift: int, policy: str, hinted: bool = True):
        cdef uint64_t hints = LEAST_HINTS if hinted else 1, place
        self.sets, self.ways, self.shift = sets, ways, shift
        self.set_mask = 0 if sets & (sets - 1) else sets - 1
        self.way_shift = (ways - 1).bit_length()
        self.words = (ways + WORD_BITS - 1) // WORD_BITS
        self.last_word = (1 << (ways - WORD_BITS * (self.words - 1))) - 1
        self.policy = POLICIES[policy]
        self.generator = SEED
        while hinted and hints < sets * ways * HINTS_A_PLACE:
            hints *= 2
        self.hint_mask = hints - 1
        self.numbers = <uint64_t*>calloc(sets << self.way_shift, sizeof(uint64_t))
        self.infos = <Info*>calloc(sets << self.way_shift, sizeof(Info))
        self.hints = <uint32_t*>calloc(hints, sizeof(uint32_t))
        self.used = <uint64_t*>calloc(sets * self.words, sizeof(uint64_t))
        self.filled = <uint16_t*>calloc(sets, sizeof(uint16_t))
        if self.filled == NULL or self.numbers == NULL or self.infos == NULL or self.hints == NULL or self.used == NULL:
            raise MemoryError
        for place in range(self.sets << self.way_shift):
            self.numbers[place] = NO_NUMBER

    def __dealloc__(self):
        free(self.numbers)
        free(self.infos)
        free(self.hints)
        free(self.used)
        free(self.filled)

    cdef uint64_t set_of(self, uint64_t number) noexcept nogil:
        if self.set_mask or self.sets == 1:
            return number & self.set_mask
        return number % self.sets

    cdef int64_t find(self, uint64_t address) noexcept nogil:
        return quick_find(self, address)

    cdef int64_t search(self, uint64_t number) noexcept nogil:
        cdef uint64_t place = self.set_of(number) << self.way_shift
        cdef uint64_t end = place + self.ways
        while place + BLOCK <= end and not in_block(&self.numbers[place], number):
            place += BLOCK
        while place < end:
            if self.numbers[place] == number:
                self.hints[number & self.hint_mask] = <uint32_t>place
                return <int64_t>place
            place += 1
        return ABSENT

    cdef void touch(self, int64_t place) noexcept nogil:
        if self.policy == POLICY_LRU:
            self.clock += 1      # a repetition of all touches since leaves the same order: nothing to take back
            self.infos[place].stamp = self.clock
        elif self.policy == POLICY_NRU:
            if not used_word(self, place)[0] & used_bit(self, place):
                use_bit(self, place)
        elif self.policy == POLICY_PLRU:
            point_away(self, place)

    cdef int64_t victim(self, uint64_t address) noexcept nogil:
        cdef uint64_t chosen_set = self.set_of(address >> self.shift)
        cdef uint64_t first = chosen_set << self.way_shift
        cdef uint64_t place, best = first
        if self.filled[chosen_set] < self.ways:
            while self.numbers[best] != NO_NUMBER:
                best += 1
        elif self.policy == POLICY_LRU and self.sets == 1 and self.ways >= MANY_WAYS:
            best = oldest_of_many(self)
        elif self.policy == POLICY_LRU:
            for place in range(first + 1, first + self.ways):
                if self.infos[place].stamp < self.infos[best].stamp:
                    best = place
        elif self.policy == POLICY_NRU:
            best = first + clear_bit(&self.used[chosen_set * self.words], self.ways)
        elif self.policy == POLICY_PLRU:
            best = first + pointed_at(self.used[chosen_set], self.ways)
        else:
            self.generator ^= self.generator << 13
            self.generator ^= self.generator >> 7
            self.generator ^= self.generator << 17
            best = first + self.generator % self.ways
        return <int64_t>best

    cdef void put(self, int64_t place, uint64_t address, int state, int64_t ready, bint recent) noexcept nogil:
        cdef uint64_t number = address >> self.shift
        self.clear(place)
        self.filled[<uint64_t>place >> self.way_shift] += 1
        self.numbers[place] = number
        self.infos[place].state = <uint8_t>state
        self.infos[place].ready = ready
        self.hints[number & self.hint_mask] = <uint32_t>place
        if recent:
            self.touch(place)
        else:
            self.oldest.count = 0

    cdef void clear(self, int64_t place) noexcept nogil:
        if self.numbers[place] == NO_NUMBER:
            return
        self.filled[<uint64_t>place >> self.way_shift] -= 1
        self.numbers[place] = NO_NUMBER
        self.infos[place].state = INVALID
        self.infos[place].stamp = 0
        self.infos[place].mark = 0
        if self.policy == POLICY_NRU:
            used_word(self, place)[0] &= ~used_bit(self, place)

    # For tests and tools.

    def probe(self, address: int) -> tuple[str, int] | None:
        """State (a letter of MESI) and the cycle in which the line came; None if it is not there. No effect."""
        cdef int64_t place = self.find(address)
        if place == ABSENT:
            return None
        return STATES[self.infos[place].state], self.infos[place].ready

    def use(self, address: int) -> bool:
        """A use: whether it was there; if not, it is brought in."""
        cdef int64_t place = self.find(address)
        if place != ABSENT:
            self.touch(place)
            return True
        self.put(self.victim(address), address, EXCLUSIVE, 0, True)
        return False

    def contents(self) -> list[list[int | None]]:
        """The numbers held, by set and way; None is a free place."""
        def number(place: int) -> int | None:
            return None if self.numbers[place] == NO_NUMBER else self.numbers[place]
        return [[number(chosen << self.way_shift | way) for way in range(self.ways)] for chosen in range(self.sets)]


cdef uint64_t oldest_of_many(TagStore store) noexcept nogil:
    """LRU of one set: the place that was used longest ago.

    Whatever is used is younger than all that are not: so those that were oldest once stay the oldest, in their order,
    but for those that were used since.
    """
    cdef Oldest* oldest = &store.oldest
    while oldest.next < oldest.count:
        if store.infos[oldest.places[oldest.next]].stamp == oldest.stamps[oldest.next]:
            return oldest.places[oldest.next]
        oldest.next += 1
    collect_oldest(store)
    return oldest.places[0]


cdef void collect_oldest(TagStore store) noexcept nogil:
    cdef Oldest* oldest = &store.oldest
    cdef uint64_t stamp
    cdef uint32_t place, at
    oldest.count = oldest.next = 0
    for place in range(store.ways):
        stamp = store.infos[place].stamp
        if oldest.count == OLDEST and stamp >= oldest.stamps[OLDEST - 1]:
            continue
        if oldest.count < OLDEST:
            oldest.count += 1
        at = oldest.count - 1
        while at > 0 and oldest.stamps[at - 1] > stamp:
            oldest.stamps[at] = oldest.stamps[at - 1]
            oldest.places[at] = oldest.places[at - 1]
            at -= 1
        oldest.stamps[at] = stamp
        oldest.places[at] = place


cdef uint64_t clear_bit(const uint64_t* words, uint64_t ways) noexcept nogil:
    """NRU: the first way whose bit is clear; the last one if none is."""
    cdef uint64_t way = 0
    while way < ways - 1 and not ~words[way >> WORD_SHIFT]:
        way += WORD_BITS
    while way < ways - 1 and words[way >> WORD_SHIFT] >> (way & (WORD_BITS - 1)) & 1:
        way += 1
    return way if way < ways else ways - 1


cdef bint all_used(TagStore store, const uint64_t* words) noexcept nogil:
    """NRU: whether the bits of a set are all set."""
    cdef uint32_t word
    for word in range(store.words - 1):
        if ~words[word]:
            return 0
    return words[store.words - 1] == store.last_word


cdef void use_bit(TagStore store, int64_t place) noexcept nogil:
    """NRU: the bit of ``place`` is set; if it was the last clear one, the others are cleared."""
    cdef uint64_t* words = &store.used[(<uint64_t>place >> store.way_shift) * store.words]
    cdef uint64_t* word = used_word(store, place)
    cdef uint32_t other
    word[0] |= used_bit(store, place)
    if not all_used(store, words):
        return
    for other in range(store.words):
        words[other] = 0
    word[0] = used_bit(store, place)


cdef void point_away(TagStore store, int64_t place) noexcept nogil:
    """PLRU: the bits on the way to ``place`` point to the other side. Bit n has the children 2n, 2n+1; the root is 1."""
    cdef uint64_t* tree = &store.used[<uint64_t>place >> store.way_shift]
    cdef uint64_t node = 1, size = store.ways
    while size > 1:
        size >>= 1
        if <uint64_t>place & size:
            tree[0] &= ~(<uint64_t>1 << node)
            node = 2 * node + 1
        else:
            tree[0] |= <uint64_t>1 << node
            node = 2 * node


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


def cache_tags(config, name: str, hinted: bool = True) -> TagStore:
    """The tags of a cache: ``NAME.size``, ``NAME.ways``, ``NAME.line``, ``NAME.replacement`` of a machine."""
    line = config[f"{name}.line"]
    sets = config[f"{name}.size"] // (line * config[f"{name}.ways"])
    return TagStore(sets, config[f"{name}.ways"], line.bit_length() - 1, config[f"{name}.replacement"], hinted)
