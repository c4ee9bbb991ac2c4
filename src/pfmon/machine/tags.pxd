"""Tag stores: the lines that a cache holds, or the pages that a TLB holds, with replacement. No data, no time."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    ABSENT = -1
    OLDEST = 16
    WORD_SHIFT = 6               # bits of a word of NRU bits

cdef enum Policy:
    POLICY_LRU = 0               # the one not used for longest goes
    POLICY_NRU = 1               # the first way whose bit is clear; a use sets it, and the last one clears the others
    POLICY_PLRU = 2              # a binary tree of bits points away from what was used
    POLICY_RANDOM = 3            # any way, by a generator that begins with the same seed

cdef enum State:                 # of a line: MESI
    INVALID = 0
    SHARED = 1
    EXCLUSIVE = 2
    MODIFIED = 3

cdef struct Info:                # of a place: what is looked at once the number is right
    int64_t ready                # cycle in which the line has come
    uint64_t stamp               # LRU: when it was used last
    uint8_t state
    uint8_t mark                 # of the owner

cdef struct Oldest:              # places that were used longest ago, oldest first, as long as their stamps stay
    uint32_t count
    uint32_t next
    uint32_t places[OLDEST]
    uint64_t stamps[OLDEST]

cdef class TagStore:
    cdef uint64_t* numbers       # address >> shift by place, a set's side by side; NO_NUMBER: free
    cdef Info* infos             # by place
    cdef uint32_t* hints         # place where a number was found last, by its low bits; one for all if not hinted
    cdef uint16_t* filled        # places of a set that are not free
    cdef uint64_t* used          # NRU: bits of a set's ways, in `words` words; PLRU: its tree
    cdef uint64_t hint_mask
    cdef uint64_t sets
    cdef uint64_t set_mask       # sets - 1, or 0 if sets is no power of two
    cdef uint64_t last_word      # NRU: all bits of a set's last word
    cdef uint64_t clock
    cdef uint64_t generator
    cdef Oldest oldest           # LRU of many ways
    cdef uint32_t ways
    cdef uint32_t way_shift      # a place: set << way_shift | way
    cdef uint32_t words
    cdef readonly uint32_t shift
    cdef int policy

    # The place of an address, or ABSENT. Without effect that shows.
    cdef int64_t find(self, uint64_t address) noexcept nogil
    # The same by number, without a look at the hints.
    cdef int64_t search(self, uint64_t number) noexcept nogil
    # The place was used.
    cdef void touch(self, int64_t place) noexcept nogil
    # The place that the next line of this address' set would take: a free one first.
    cdef int64_t victim(self, uint64_t address) noexcept nogil
    cdef void put(self, int64_t place, uint64_t address, int state, int64_t ready, bint recent) noexcept nogil
    cdef void clear(self, int64_t place) noexcept nogil
    cdef uint64_t set_of(self, uint64_t number) noexcept nogil


cdef inline int64_t quick_find(TagStore store, uint64_t address) noexcept nogil:
    """`find`, in line for what was found in the same place before."""
    cdef uint64_t number = address >> store.shift
    cdef uint32_t place = store.hints[number & store.hint_mask]
    if store.numbers[place] == number:
        return place
    return store.search(number)


cdef inline uint64_t* used_word(TagStore store, int64_t place) noexcept nogil:
    """NRU: the word with the bit of a place."""
    cdef uint64_t way = <uint64_t>place & ((<uint64_t>1 << store.way_shift) - 1)
    return &store.used[(<uint64_t>place >> store.way_shift) * store.words + (way >> WORD_SHIFT)]


cdef inline uint64_t used_bit(TagStore store, int64_t place) noexcept nogil:
    """NRU: the bit of a place in its word."""
    cdef uint64_t way = <uint64_t>place & ((<uint64_t>1 << store.way_shift) - 1)
    return <uint64_t>1 << (way & ((1 << WORD_SHIFT) - 1))


cdef inline void use(TagStore store, int64_t place) noexcept nogil:
    """`touch`, in line for what is quickly done."""
    if store.policy == POLICY_LRU:
        store.clock += 1
        store.infos[place].stamp = store.clock
    elif store.policy != POLICY_NRU or not used_word(store, place)[0] & used_bit(store, place):
        store.touch(place)


cdef struct Known:               # a place that was found before: what is looked at when it is used again
    uint64_t* number
    Info* info
    uint64_t* word               # NRU: of its bit
    uint64_t bit


cdef inline void know(TagStore store, int64_t place, Known* known) noexcept nogil:
    known.number = &store.numbers[place]
    known.info = &store.infos[place]
    known.word = used_word(store, place)
    known.bit = used_bit(store, place)


cdef inline bint touch_known(TagStore store, const Known* known) noexcept nogil:
    """`touch`, if it is a matter of one word; else nothing, and no."""
    if store.policy == POLICY_LRU:
        store.clock += 1
        known.info.stamp = store.clock
        return 1
    return store.policy == POLICY_RANDOM or (store.policy == POLICY_NRU and known.word[0] & known.bit != 0)
