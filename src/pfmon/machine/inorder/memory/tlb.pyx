"""TLBs of any shape, and the set of pages with an entry in the VHPT."""

from libc.stdlib cimport calloc, free


cdef enum:
    INITIAL_PAGES = 1024
    HASH_SHIFT = 20

cdef uint64_t HASH = 0x9E3779B97F4A7C15


cdef class Tlb:
    """The TLB ``NAME`` of a machine: ``entries``, ``ways``, ``replacement``; an entry maps ``page`` bytes."""

    def __cinit__(self, config, name: str, page: int):
        ways = config[f"{name}.ways"]
        entries = config[f"{name}.entries"]
        self.tags = TagStore(entries // ways, ways, page.bit_length() - 1, config[f"{name}.replacement"])

    cdef int64_t reserved_entry(self, uint64_t address, int64_t entry) noexcept nogil:
        """Replacement ignores the thread of an entry, except for reserved ones (Montecito manual 2.4.3.1)."""
        cdef uint32_t own = thread_of(address), i, others = 0
        cdef uint64_t number = self.tags.numbers[entry]
        cdef int64_t oldest = entry
        if number == NO_NUMBER or thread_of(number << self.tags.shift) == own:
            return entry
        for i in range(self.tags.ways):      # of the only set
            number = self.tags.numbers[i]
            others += number != NO_NUMBER and thread_of(number << self.tags.shift) != own
            if others > self.reserved:
                return entry
        for i in range(self.tags.ways):
            number = self.tags.numbers[i]
            if number == NO_NUMBER or thread_of(number << self.tags.shift) == own:
                if oldest == entry or self.tags.stamps[i] < self.tags.stamps[oldest]:
                    oldest = i
        return oldest

    def reserve(self, entries: int) -> None:
        """Reserves so many entries for each hardware thread. ValueError: it has several sets, or no order of use."""
        if self.tags.sets != 1 or self.tags.stamps == NULL:
            raise ValueError("entries are reserved in one set with LRU replacement")
        self.reserved = entries

    def insert_entry(self, address: int) -> None:
        """Calls `insert`, for tests."""
        insert(self, address)

    @property
    def store(self) -> TagStore:
        """Tags of its entries."""
        return self.tags


cdef class PageTable:
    def __cinit__(self):
        self.pages = <uint64_t*>calloc(INITIAL_PAGES, sizeof(uint64_t))
        self.mask = INITIAL_PAGES - 1
        if self.pages == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.pages)

    cdef bint has_page(self, uint64_t page) noexcept nogil:
        cdef uint64_t entry = (page * HASH >> HASH_SHIFT) & self.mask
        while self.pages[entry]:
            if self.pages[entry] == page + 1:
                return 1
            entry = (entry + 1) & self.mask
        return 0

    # Adds a page that is new; returns whether there was memory for it.
    cdef bint add(self, uint64_t page) noexcept nogil:
        cdef uint64_t entry
        if 2 * self.count > self.mask and not self.grow():
            self.lost = 1
            return 0
        entry = (page * HASH >> HASH_SHIFT) & self.mask
        while self.pages[entry]:
            entry = (entry + 1) & self.mask
        self.pages[entry] = page + 1
        self.count += 1
        return 1

    cdef bint grow(self) noexcept nogil:
        cdef uint64_t* old = self.pages
        cdef uint64_t old_size = self.mask + 1, entry
        cdef uint64_t* pages = <uint64_t*>calloc(2 * old_size, sizeof(uint64_t))
        if pages == NULL:
            return 0
        self.pages = pages
        self.mask = 2 * old_size - 1
        self.count = 0
        for entry in range(old_size):
            if old[entry]:
                self.add(old[entry] - 1)
        free(old)
        return 1

    def __contains__(self, page: int) -> bool:
        return self.has_page(page)

    def __len__(self) -> int:
        return self.count

    def learn(self, page: int) -> None:
        """Adds a page, for tests."""
        if not self.has_page(page) and not self.add(page):
            raise MemoryError
