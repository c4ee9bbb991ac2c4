"""Tag stores: the lines of a cache, or the pages of a TLB, with replacement. No data, no time."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from *:
    const uint64_t NO_NUMBER "UINT64_MAX"

cdef enum:
    ABSENT = -1

cdef enum LineState:             # of a line: MESI
    INVALID = 0
    SHARED = 1
    EXCLUSIVE = 2
    MODIFIED = 3

cdef struct Info:                # of a place: read after its number matched
    int64_t ready                # cycle of the line's arrival
    uint8_t state

@cython.final
cdef class TagStore:
    cdef uint64_t* numbers       # address >> shift by place, a set's side by side; NO_NUMBER: free
    cdef Info* infos             # by place
    cdef uint16_t* hints         # place where a number was last found, by its low bits; one for all if not hinted
    cdef uint16_t* filled        # places of a set that are not free
    cdef uint64_t hint_mask
    cdef uint16_t* counts        # places whose numbers have the same low bits, 0: none; NULL: there are few ways
    cdef uint64_t count_mask
    cdef uint64_t sets
    cdef uint64_t set_mask       # sets - 1, or 0 if sets is no power of two
    cdef ReplacementPolicy policy
    cdef Recency recency         # of the policy
    cdef uint64_t* stamps        # ... its stamps
    cdef uint64_t always         # RECENCY_NONE: a word whose bit is set
    cdef uint32_t ways
    cdef uint32_t way_shift      # a place: set << way_shift | way
    cdef readonly uint32_t shift
    cdef ThreadEvictions evictions  # between two hardware threads; None: there is one

    # Returns the place of an address, or ABSENT. No visible effect.
    cdef int64_t find(self, uint64_t address) noexcept nogil
    # The same by number, without hints.
    cdef int64_t search(self, uint64_t number) noexcept nogil
    # Records a use of the place.
    cdef void touch(self, int64_t place) noexcept nogil
    # Returns the place for the next line of this address' set: a free one first.
    cdef int64_t victim(self, uint64_t address) noexcept nogil
    cdef void put(self, int64_t place, uint64_t address, int state, int64_t ready, bint recent) noexcept nogil
    cdef void clear(self, int64_t place) noexcept nogil


cdef inline uint64_t set_of(TagStore store, uint64_t number) noexcept nogil:
    if store.set_mask or store.sets == 1:
        return number & store.set_mask
    return number % store.sets


cdef inline int64_t quick_find(TagStore store, uint64_t address) noexcept nogil:
    """`find`, inlined for numbers found in the same place before."""
    cdef uint64_t number = address >> store.shift
    cdef uint32_t place = store.hints[number & store.hint_mask]
    if store.numbers[place] == number:
        return place
    return store.search(number)


cdef inline void use(TagStore store, int64_t place) noexcept nogil:
    """`touch`, inlined for one-word updates."""
    if store.recency == RECENCY_STAMP:
        store.policy.clock += 1
        store.stamps[place] = store.policy.clock
    elif store.recency == RECENCY_BIT:
        if not word_of(store.policy, place)[0] & bit_of(store.policy, place):
            store.policy.touch(place)
    elif store.recency != RECENCY_NONE:
        store.policy.touch(place)


cdef struct KnownLine:           # a place found before: the fields for its next use
    uint64_t* number
    Info* info
    uint64_t* word               # its stamp; or the word with its bit
    uint64_t bit                 # if it is set, nothing is to be done; 0: the policy has to be called


cdef inline void get_known_line(TagStore store, int64_t place, KnownLine* known) noexcept nogil:
    known.number = &store.numbers[place]
    known.info = &store.infos[place]
    known.word, known.bit = &store.always, 1
    if store.recency == RECENCY_STAMP:
        known.word = &store.stamps[place]
    elif store.recency == RECENCY_BIT:
        known.word, known.bit = word_of(store.policy, place), bit_of(store.policy, place)
    elif store.recency == RECENCY_OTHER:
        known.bit = 0


cdef inline bint touch_known(TagStore store, const KnownLine* known) noexcept nogil:
    """`touch`, if it is a one-word update; else does nothing and returns False."""
    if store.recency == RECENCY_STAMP:
        store.policy.clock += 1
        known.word[0] = store.policy.clock
        return 1
    return known.word[0] & known.bit != 0
