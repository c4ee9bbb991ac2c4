"""Translation lookaside buffers: pages with a cached translation. Addresses are translated to themselves."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


@cython.final
cdef class Tlb:
    cdef TagStore tags
    cdef uint32_t reserved       # entries reserved for each hardware thread; 0: there is one thread

    # Returns the victim entry for an address of a thread; ``entry``: the replacement policy's choice.
    cdef int64_t reserved_entry(self, uint64_t address, int64_t entry) noexcept nogil


@cython.final
cdef class PageTable:
    """Pages with a translation by the operating system, as found by the page walker."""

    cdef uint64_t* pages         # an open hash table of page numbers + 1
    cdef uint64_t mask
    cdef uint64_t count
    cdef readonly bint lost      # sticky: there was no memory for a page

    cdef bint has_page(self, uint64_t page) noexcept nogil
    cdef bint add(self, uint64_t page) noexcept nogil
    cdef bint grow(self) noexcept nogil


cdef inline bint lookup(Tlb tlb, uint64_t address) noexcept nogil:
    """Looks up a translation; a hit makes it recent."""
    cdef int64_t entry = quick_find(tlb.tags, address)
    if entry == ABSENT:
        return 0
    use(tlb.tags, entry)
    return 1


cdef inline int64_t tlb_victim(Tlb tlb, uint64_t address) noexcept nogil:
    """Returns the victim entry for an address."""
    cdef int64_t entry = tlb.tags.victim(address)
    return tlb.reserved_entry(address, entry) if tlb.reserved else entry


cdef inline void insert(Tlb tlb, uint64_t address) noexcept nogil:
    if quick_find(tlb.tags, address) == ABSENT:
        tlb.tags.put(tlb_victim(tlb, address), address, 0, 0, 1)
