"""Physical addresses of a whole system's code and data, from the stream.

A tagged address is what the mechanisms of a system's machine use: bits 0-49 are physical, and tag all caches. Bits 56-63
number the virtual pages (aliases) of a frame, from 1 on: first-level TLBs tag their entries with them, too. 0 is a
physical reference, without translation. Bits 52-54 say that no cache holds the line.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from pfmon.stream._stream cimport Mark, mark_kind

cdef enum:
    FIRST_PAGES = 1024
    SPREAD_SHIFT = 20
    PAGE_NUMBER_BITS = 52
    COVERS_BIT = 55              # of PAGE_ADDRESS: the frames of 16 KB are known
    TRANSLATED_BIT = 54
    FRAME_BITS = 38              # of PAGE_FRAME
    ATTRIBUTE_SHIFT = 38
    REGION_ID_SHIFT = 41
    COVERED_PAGES = 4
    WRITE_BACK = 0               # memory attributes (volume 2, table 4-12)
    WRITE_COALESCING = 6
    HARDWARE_THREADS = 2


cdef bint start_pages(PageMap* pages, uint64_t size) noexcept nogil:
    cdef uint64_t i
    pages.entries = <PageEntry*>calloc(size, sizeof(PageEntry))
    pages.mask, pages.count = size - 1, 0
    if pages.entries == NULL:
        return False
    for i in range(size):
        pages.entries[i].page = NO_PAGE_NUMBER
    return True


cdef PageEntry* page_entry(const PageMap* pages, uint64_t page) noexcept nogil:
    """Returns a page's entry, or the free one for it."""
    cdef uint64_t i = (page * <uint64_t>0x9E3779B97F4A7C15 >> SPREAD_SHIFT) & pages.mask
    while pages.entries[i].page != page and pages.entries[i].page != NO_PAGE_NUMBER:
        i = (i + 1) & pages.mask
    return &pages.entries[i]


cdef bint grow_pages(PageMap* pages) noexcept nogil:
    cdef PageMap fresh
    cdef uint64_t i
    if not start_pages(&fresh, 2 * (pages.mask + 1)):
        return False
    for i in range(pages.mask + 1):
        if pages.entries[i].page != NO_PAGE_NUMBER:
            page_entry(&fresh, pages.entries[i].page)[0] = pages.entries[i]
    fresh.count = pages.count
    free(pages.entries)
    pages[0] = fresh
    return True


cdef bint set_page(PageMap* pages, uint64_t page, uint64_t value) noexcept nogil:
    """Enters a page; returns whether there was memory for it."""
    cdef PageEntry* entry = page_entry(pages, page)
    if entry.page == NO_PAGE_NUMBER:
        if 2 * pages.count > pages.mask:
            if not grow_pages(pages):
                return False
            entry = page_entry(pages, page)
        entry.page = page
        pages.count += 1
    entry.value = value
    return True


cdef bint start_thread(ThreadPages* pages) noexcept nogil:
    cdef uint32_t i
    for i in range(RECENT_PAGES):
        pages.recent[i].page = NO_PAGE_NUMBER
    pages.code_page = NO_PAGE_NUMBER
    return start_pages(&pages.data, FIRST_PAGES) and start_pages(&pages.code, FIRST_PAGES)


cdef class PhysicalAddresses:
    """The translations that the marks PAGE_ADDRESS and PAGE_FRAME show, and those of blocks, of each hardware thread of
    a core. No thread uses a TLB's entry of the other (Montecito manual 2.4.3.1): their aliases of a frame differ."""

    def __cinit__(self):
        cdef uint32_t i
        self.threads = <ThreadPages*>calloc(HARDWARE_THREADS, sizeof(ThreadPages))
        if self.threads == NULL or not (
                start_pages(&self.data_owners, FIRST_PAGES) and start_pages(&self.code_owners, FIRST_PAGES)):
            raise MemoryError
        for i in range(HARDWARE_THREADS):
            if not start_thread(&self.threads[i]):
                raise MemoryError
        self.choose_thread(0)

    def __dealloc__(self):
        cdef uint32_t i
        for i in range(HARDWARE_THREADS if self.threads != NULL else 0):
            free(self.threads[i].data.entries)
            free(self.threads[i].code.entries)
        free(self.threads)
        free(self.data_owners.entries)
        free(self.code_owners.entries)

    cdef void choose_thread(self, uint32_t thread) noexcept nogil:
        self.own = &self.threads[thread]
        self.recent = self.own.recent
        self.thread = SECOND_THREAD if thread else 0

    # --- data

    cdef void take_page(self, uint64_t mark) noexcept nogil:
        cdef uint64_t page, frame, attribute, region, flags = 0, i
        if mark_kind(mark) == Mark.PAGE_ADDRESS:
            self.own.named = mark
            return
        page = self.own.named & ((<uint64_t>1 << PAGE_NUMBER_BITS) - 1)
        frame = mark & ((<uint64_t>1 << FRAME_BITS) - 1)
        attribute = mark >> ATTRIBUTE_SHIFT & 7
        region = mark >> REGION_ID_SHIFT & 0x7FFF
        if attribute != WRITE_BACK:
            flags = COALESCING if attribute == WRITE_COALESCING else UNCACHEABLE
        if not self.own.named >> COVERS_BIT & 1:
            self.map_page(page, frame << FRAME_SHIFT | flags, self.own.named >> TRANSLATED_BIT & 1, region)
            return
        page, frame = page & ~<uint64_t>(COVERED_PAGES - 1), frame & ~<uint64_t>(COVERED_PAGES - 1)
        for i in range(COVERED_PAGES):
            self.map_page(page + i, (frame + i) << FRAME_SHIFT | flags, self.own.named >> TRANSLATED_BIT & 1, region)

    cdef void map_page(self, uint64_t page, uint64_t base, bint translated, uint64_t region) noexcept nogil:
        """A virtual page has this frame from now on."""
        cdef PageEntry* recent = &self.recent[page & RECENT_PAGES - 1]
        if translated:
            base = self.tagged(&self.data_owners, base, page ^ region << PAGE_NUMBER_BITS ^ self.thread)
        if not set_page(&self.own.data, page, base):
            self.lost = True
        recent.page, recent.value = page, base

    cdef uint64_t tagged(self, PageMap* owners, uint64_t base, uint64_t owner) noexcept nogil:
        """Returns the address of a frame with the number of its alias: ``owner`` has the virtual page. Aliases beyond
        the last number share it."""
        cdef uint64_t alias, tag
        cdef const PageEntry* entry
        for alias in range(1, MAX_ALIASES + 1):
            tag = base | alias << ALIAS_SHIFT
            entry = page_entry(owners, tag >> FRAME_SHIFT)
            if entry.page != NO_PAGE_NUMBER and entry.value == owner:
                return tag
            if entry.page == NO_PAGE_NUMBER:
                if not set_page(owners, tag >> FRAME_SHIFT, owner):
                    self.lost = True
                return tag
        return tag

    cdef uint64_t look_up(self, uint64_t address) noexcept nogil:
        cdef uint64_t page = address >> FRAME_SHIFT
        cdef const PageEntry* entry = page_entry(&self.own.data, page)
        cdef PageEntry* recent = &self.recent[page & RECENT_PAGES - 1]
        if entry.page == NO_PAGE_NUMBER:
            return address & PHYSICAL_BITS | NO_FRAME
        recent[0] = entry[0]
        return entry.value | address & (1 << FRAME_SHIFT) - 1

    # --- purges

    cdef bint covers_data(self, const Purge* purge, uint64_t page) noexcept nogil:
        cdef const PageEntry* owner = page_entry(&self.data_owners, page)
        return (owner.page != NO_PAGE_NUMBER and owner.value >> PAGE_NUMBER_BITS == purge.region
                and purge.first <= owner.value & OFFSET_PAGES - 1 <= purge.last)

    cdef bint covers_code(self, const Purge* purge, uint64_t page) noexcept nogil:
        cdef const PageEntry* owner = page_entry(&self.code_owners, page)
        return owner.page != NO_PAGE_NUMBER and purge.first <= owner.value & OFFSET_PAGES - 1 <= purge.last

    # --- code

    cdef uint64_t block_base(self, uint64_t ip, uint64_t physical) noexcept nogil:
        cdef uint64_t base = physical & PHYSICAL_BITS & ~<uint64_t>((1 << FRAME_SHIFT) - 1)
        return self.tagged(&self.code_owners, base, ip >> FRAME_SHIFT ^ self.thread) if physical & TRANSLATED_CODE else base

    cdef void enter_code(self, uint64_t ip, uint64_t base) noexcept nogil:
        if ip >> FRAME_SHIFT == self.own.code_page and base == self.own.code_base:
            return
        self.own.code_page, self.own.code_base = ip >> FRAME_SHIFT, base
        if not set_page(&self.own.code, self.own.code_page, base):
            self.lost = True

    cdef uint64_t of_code(self, uint64_t address) noexcept nogil:
        cdef const PageEntry* entry = page_entry(&self.own.code, address >> FRAME_SHIFT)
        if entry.page == NO_PAGE_NUMBER:
            return address & PHYSICAL_BITS | NO_FRAME
        return (entry.value | address & (1 << FRAME_SHIFT) - 1) & ~ALIAS_BITS

    # For tests and tools.

    def mark(self, word: int) -> None:
        """Takes a mark of a page."""
        self.take_page(word)

    def address_of(self, address: int) -> int:
        """Returns the tagged physical address of data."""
        return tagged_address(self, address)

    def code_address(self, ip: int, physical: int) -> int:
        """Runs code of a block with this head; returns the tagged physical address of its page."""
        base = self.block_base(ip, physical)
        self.enter_code(ip, base)
        return base

    def code_of(self, address: int) -> int:
        """Returns the physical address of code, as prefetch uses it."""
        return self.of_code(address)
