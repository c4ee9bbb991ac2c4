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

cdef struct Info:                # of an entry: read after its number matched
    int64_t ready                # cycle of the line's arrival
    uint8_t state

@cython.final
cdef class TagStore:
    cdef uint64_t* numbers       # address >> shift by entry, a set's side by side; NO_NUMBER: free
    cdef Info* infos             # by entry
    cdef uint16_t* hints         # entry of the last hit, by low bits of the number; a single one if not hinted
    cdef uint16_t* filled        # entries of a set that are not free
    cdef uint64_t hint_mask
    cdef uint16_t* counts        # entries whose numbers have the same low bits, 0: none; NULL: there are few ways
    cdef uint64_t count_mask
    cdef uint64_t sets
    cdef uint64_t set_mask       # sets - 1, or 0 if sets is no power of two
    cdef ReplacementPolicy policy
    cdef Recency recency         # of the policy
    cdef uint64_t* stamps        # ... its stamps
    cdef uint64_t always         # RECENCY_NONE: a word whose bit is set
    cdef uint32_t ways
    cdef uint32_t way_shift      # an entry is set << way_shift | way
    cdef readonly uint32_t shift
    cdef ThreadEvictions evictions  # between two hardware threads; None: there is one

    # Returns the entry of an address, or ABSENT. No visible effect.
    cdef int64_t find(self, uint64_t address) noexcept nogil
    # The same by number, without hints.
    cdef int64_t search(self, uint64_t number) noexcept nogil
    # Records a use of the entry.
    cdef void touch(self, int64_t entry) noexcept nogil
    # Returns the entry for a fill of the address: a free one of its set, else the victim.
    cdef int64_t victim(self, uint64_t address) noexcept nogil
    cdef void put(self, int64_t entry, uint64_t address, int state, int64_t ready, bint recent) noexcept nogil
    cdef void clear(self, int64_t entry) noexcept nogil


cdef inline uint64_t set_of(TagStore store, uint64_t number) noexcept nogil:
    if store.set_mask or store.sets == 1:
        return number & store.set_mask
    return number % store.sets


cdef inline int64_t quick_find(TagStore store, uint64_t address) noexcept nogil:
    """`find`, inlined for numbers whose hint is right."""
    cdef uint64_t number = address >> store.shift
    cdef uint32_t entry = store.hints[number & store.hint_mask]
    if store.numbers[entry] == number:
        return entry
    return store.search(number)


cdef inline void use(TagStore store, int64_t entry) noexcept nogil:
    """`touch`, inlined for one-word updates."""
    if store.recency == RECENCY_STAMP:
        store.policy.clock += 1
        store.stamps[entry] = store.policy.clock
    elif store.recency == RECENCY_BIT:
        if not word_of(store.policy, entry)[0] & bit_of(store.policy, entry):
            store.policy.touch(entry)
    elif store.recency != RECENCY_NONE:
        store.policy.touch(entry)


cdef struct KnownLine:           # an entry of an earlier hit: the fields for its next use
    uint64_t* number
    Info* info
    uint64_t* word               # its stamp; or the word with its bit
    uint64_t bit                 # if it is set, nothing is to be done; 0: the policy has to be called


cdef inline void get_known_line(TagStore store, int64_t entry, KnownLine* known) noexcept nogil:
    known.number = &store.numbers[entry]
    known.info = &store.infos[entry]
    known.word, known.bit = &store.always, 1
    if store.recency == RECENCY_STAMP:
        known.word = &store.stamps[entry]
    elif store.recency == RECENCY_BIT:
        known.word, known.bit = word_of(store.policy, entry), bit_of(store.policy, entry)
    elif store.recency == RECENCY_OTHER:
        known.bit = 0


cdef inline bint touch_known(TagStore store, const KnownLine* known) noexcept nogil:
    """`touch`, if it is a one-word update; else does nothing and returns False."""
    if store.recency == RECENCY_STAMP:
        store.policy.clock += 1
        known.word[0] = store.policy.clock
        return 1
    return known.word[0] & known.bit != 0
