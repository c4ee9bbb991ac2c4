"""Translation lookaside buffers: which pages' translations are at hand. Addresses are translated to themselves."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.tags cimport ABSENT, TagStore, quick_find, use


cdef class Tlb:
    cdef TagStore tags
    cdef uint32_t reserved       # entries of each hardware thread that the other one may not take; 0: there is one thread

    # The place of the next entry, for an address of a thread; ``place``: which replacement would take.
    cdef int64_t own_place(self, uint64_t address, int64_t place) noexcept nogil


cdef class PageTable:
    """The pages that the operating system has given translations for, as the page walker finds them."""

    cdef uint64_t* pages         # an open hash table of page numbers + 1
    cdef uint64_t mask
    cdef uint64_t count
    cdef readonly bint lost      # sticky: there was no memory for a page

    cdef bint knows(self, uint64_t page) noexcept nogil
    cdef bint add(self, uint64_t page) noexcept nogil
    cdef bint grow(self) noexcept nogil


cdef inline bint lookup(Tlb tlb, uint64_t address) noexcept nogil:
    """Whether the translation is there; using it makes it recent."""
    cdef int64_t place = quick_find(tlb.tags, address)
    if place == ABSENT:
        return 0
    use(tlb.tags, place)
    return 1


cdef inline int64_t room_in(Tlb tlb, uint64_t address) noexcept nogil:
    """The place of the next entry."""
    cdef int64_t place = tlb.tags.victim(address)
    return tlb.own_place(address, place) if tlb.reserved else place


cdef inline void insert(Tlb tlb, uint64_t address) noexcept nogil:
    if quick_find(tlb.tags, address) == ABSENT:
        tlb.tags.put(room_in(tlb, address), address, 0, 0, 1)
