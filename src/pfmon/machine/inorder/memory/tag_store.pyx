"""Tag stores of any number of sets and ways; the policy (replacement_registry.py) chooses victims."""

from libc.stdlib cimport calloc, free


cdef enum:
    HINTS_A_PLACE = 4
    MIN_HINTS = 1024
    MAX_HINTED_ENTRIES = 1 << 16  # entries: a hint has 16 bits
    BLOCK = 4
    HASHED_WAYS = 32               # ways that take long to search
    COUNTS_A_PLACE = 32

STATES = {INVALID: "I", SHARED: "S", EXCLUSIVE: "E", MODIFIED: "M"}


cdef inline bint in_block(const uint64_t* numbers, uint64_t number) noexcept nogil:
    return (numbers[0] == number) | (numbers[1] == number) | (numbers[2] == number) | (numbers[3] == number)


cdef class TagStore:
    """``sets`` x ``ways`` tags for addresses, ``shift`` bits of which are an offset; policy by name
    (replacement_registry.py).

    A number's set is its remainder by the number of sets (for a power of two: its low bits, Montecito manual
    table 2-9). ``hinted``: the index of the last hit is cached by low bits of the number, for stores with many hits.
    """

    def __cinit__(self, sets: int, ways: int, shift: int, policy: str, hinted: bool = True):
        cdef uint64_t hints, entry
        self.sets, self.ways, self.shift = sets, ways, shift
        self.set_mask = 0 if sets & (sets - 1) else sets - 1
        self.way_shift = (ways - 1).bit_length()
        hinted = hinted and sets << self.way_shift <= MAX_HINTED_ENTRIES
        hints = MIN_HINTS if hinted else 1
        self.policy = replacement_policy(policy, sets, ways)
        self.recency, self.stamps = self.policy.recency, self.policy.stamps
        self.always = 1
        while hinted and hints < sets * ways * HINTS_A_PLACE:
            hints *= 2
        self.hint_mask = hints - 1
        self.numbers = <uint64_t*>calloc(sets << self.way_shift, sizeof(uint64_t))
        self.infos = <Info*>calloc(sets << self.way_shift, sizeof(Info))
        self.hints = <uint16_t*>calloc(hints, sizeof(uint16_t))
        self.filled = <uint16_t*>calloc(sets, sizeof(uint16_t))
        if ways >= HASHED_WAYS:
            self.count_mask = (1 << (sets * ways * COUNTS_A_PLACE - 1).bit_length()) - 1
            self.counts = <uint16_t*>calloc(self.count_mask + 1, sizeof(uint16_t))
            if self.counts == NULL:
                raise MemoryError
        if self.filled == NULL or self.numbers == NULL or self.infos == NULL or self.hints == NULL:
            raise MemoryError
        for entry in range(self.sets << self.way_shift):
            self.numbers[entry] = NO_NUMBER

    def __dealloc__(self):
        free(self.numbers)
        free(self.infos)
        free(self.hints)
        free(self.filled)
        free(self.counts)

    cdef int64_t find(self, uint64_t address) noexcept nogil:
        return quick_find(self, address)

    cdef int64_t search(self, uint64_t number) noexcept nogil:
        cdef uint64_t entry = set_of(self, number) << self.way_shift
        cdef uint64_t end = entry + self.ways
        if self.counts != NULL and self.counts[number & self.count_mask] == 0:
            return ABSENT
        if self.ways == BLOCK and not in_block(&self.numbers[entry], number):
            return ABSENT
        while entry + BLOCK <= end and not in_block(&self.numbers[entry], number):
            entry += BLOCK
        while entry < end:
            if self.numbers[entry] == number:
                self.hints[number & self.hint_mask] = <uint16_t>entry
                return <int64_t>entry
            entry += 1
        return ABSENT

    cdef void touch(self, int64_t entry) noexcept nogil:
        self.policy.touch(<uint64_t>entry)

    cdef int64_t victim(self, uint64_t address) noexcept nogil:
        cdef uint64_t chosen_set = set_of(self, address >> self.shift)
        cdef uint64_t entry = chosen_set << self.way_shift
        if self.filled[chosen_set] == self.ways:
            return <int64_t>(entry + self.policy.victim(chosen_set))
        while self.numbers[entry] != NO_NUMBER:
            entry += 1
        return <int64_t>entry

    cdef void put(self, int64_t entry, uint64_t address, int state, int64_t ready, bint recent) noexcept nogil:
        cdef uint64_t number = address >> self.shift
        if self.evictions is not None:
            self.evictions.replaced(number, self.numbers[entry], self.shift)
        self.clear(entry)
        self.filled[<uint64_t>entry >> self.way_shift] += 1
        self.numbers[entry] = number
        if self.counts != NULL:
            self.counts[number & self.count_mask] += 1
        self.infos[entry].state = <uint8_t>state
        self.infos[entry].ready = ready
        self.hints[number & self.hint_mask] = <uint16_t>entry
        if recent:
            self.touch(entry)
        else:
            self.policy.put_unused(<uint64_t>entry)

    cdef void clear(self, int64_t entry) noexcept nogil:
        if self.numbers[entry] == NO_NUMBER:
            return
        self.filled[<uint64_t>entry >> self.way_shift] -= 1
        if self.counts != NULL:
            self.counts[self.numbers[entry] & self.count_mask] -= 1
        self.numbers[entry] = NO_NUMBER
        self.infos[entry].state = INVALID
        self.policy.clear(<uint64_t>entry)

    # For tests and tools.

    def probe(self, address: int) -> tuple[str, int] | None:
        """State (a letter of MESI) and the cycle of the line's arrival; None if it is absent. No effect."""
        cdef int64_t entry = self.find(address)
        if entry == ABSENT:
            return None
        return STATES[self.infos[entry].state], self.infos[entry].ready

    def use(self, address: int) -> bool:
        """Uses an address; returns whether it hit; a miss fills it."""
        cdef int64_t entry = self.find(address)
        if entry != ABSENT:
            self.touch(entry)
            return True
        self.put(self.victim(address), address, EXCLUSIVE, 0, True)
        return False

    def contents(self) -> list[list[int | None]]:
        """The numbers in it, by set and way; None is a free entry."""
        def number(entry: int) -> int | None:
            return None if self.numbers[entry] == NO_NUMBER else self.numbers[entry]
        return [[number(chosen << self.way_shift | way) for way in range(self.ways)] for chosen in range(self.sets)]


def cache_tags(config, name: str, hinted: bool = True) -> TagStore:
    """The tags of a cache: ``NAME.size``, ``NAME.ways``, ``NAME.line``, ``NAME.replacement`` of a machine."""
    line = config[f"{name}.line"]
    sets = config[f"{name}.size"] // (line * config[f"{name}.ways"])
    return TagStore(sets, config[f"{name}.ways"], line.bit_length() - 1, config[f"{name}.replacement"], hinted)
