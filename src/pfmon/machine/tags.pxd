"""Tag stores: the lines that a cache holds, or the pages that a TLB holds, with replacement. No data, no time."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    ABSENT = -1

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

cdef struct Tag:
    uint64_t number              # address >> shift; NO_NUMBER if the place is free
    int64_t ready                # cycle in which the line has come
    uint64_t stamp               # LRU: when it was used last
    uint8_t state
    uint8_t used                 # NRU: its bit
    uint8_t mark                 # of the owner


cdef class TagStore:
    cdef Tag* tags               # set by set
    cdef uint32_t* hints         # where a number was found last, by its low bits
    cdef uint16_t* used          # NRU: bits set, by set
    cdef uint64_t* trees         # PLRU, by set
    cdef uint64_t hint_mask
    cdef uint64_t sets
    cdef uint64_t set_mask       # sets - 1, or 0 if sets is no power of two
    cdef uint64_t clock
    cdef uint64_t generator
    cdef uint32_t ways
    cdef readonly uint32_t shift
    cdef int policy

    # The place of an address, or ABSENT. Without effect that shows.
    cdef int64_t find(self, uint64_t address) noexcept nogil
    cdef int64_t search(self, uint64_t number) noexcept nogil
    # The place was used.
    cdef void touch(self, int64_t place) noexcept nogil
    # The same, if a later touch would then find all as if this one had not been; otherwise no, and nothing happens.
    cdef bint touch_early(self, int64_t place) noexcept nogil
    # The place that the next line of this address' set would take: a free one first.
    cdef int64_t victim(self, uint64_t address) noexcept nogil
    cdef void put(self, int64_t place, uint64_t address, int state, int64_t ready, bint recent) noexcept nogil
    cdef void clear(self, int64_t place) noexcept nogil
    cdef uint64_t set_of(self, uint64_t number) noexcept nogil


cdef inline int64_t quick_find(TagStore store, uint64_t address) noexcept nogil:
    """`find`, in line for what was found in the same place before."""
    cdef uint64_t number = address >> store.shift
    cdef uint32_t place = store.hints[number & store.hint_mask]
    if store.tags[place].number == number:
        return place
    return store.search(number)
