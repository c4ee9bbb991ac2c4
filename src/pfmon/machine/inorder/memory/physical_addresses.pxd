"""Physical addresses of a whole system's code and data: see physical_addresses.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport mark_value

cdef extern from *:
    """
    #define PFMON_ALIAS_SHIFT 56
    #define PFMON_ALIAS_BITS (UINT64_C(0xFF) << PFMON_ALIAS_SHIFT)
    #define PFMON_NO_FRAME (UINT64_C(1) << 54)
    #define PFMON_UNCACHEABLE (UINT64_C(1) << 53)
    #define PFMON_COALESCING (UINT64_C(1) << 52)
    #define PFMON_PHYSICAL_BITS ((UINT64_C(1) << 50) - 1)
    #define PFMON_NO_PAGE_NUMBER UINT64_MAX
    """
    const uint64_t ALIAS_BITS "PFMON_ALIAS_BITS"
    # The page has no known frame: of a prefetch, or a deferred load.
    const uint64_t NO_FRAME "PFMON_NO_FRAME"
    const uint64_t UNCACHEABLE "PFMON_UNCACHEABLE"
    const uint64_t COALESCING "PFMON_COALESCING"
    const uint64_t PHYSICAL_BITS "PFMON_PHYSICAL_BITS"
    const uint64_t NO_PAGE_NUMBER "PFMON_NO_PAGE_NUMBER"
    # Of an alias's owner. The pages of both threads with equal offsets in regions 0 and 4, 1 and 5 and so on would have
    # one owner, if they had one frame.
    const uint64_t SECOND_THREAD "(UINT64_C(1) << 51)"
    const uint64_t OFFSET_PAGES "(UINT64_C(1) << 49)"        # pages of a region
    const uint64_t REGION_NUMBERS "(UINT64_C(1) << 12)"      # region identifiers that are told apart

cdef enum:
    ALIAS_SHIFT = 56
    MAX_ALIASES = 255            # of a frame: numbers from 1 on
    FRAME_SHIFT = 12             # translations are known by the smallest page, 4 KB
    RECENT_PAGES = 1024          # a power of two
    TRANSLATED_CODE = 8          # flag in BlockHead.physical

cdef struct PageEntry:
    uint64_t page                # NO_PAGE_NUMBER: free
    uint64_t value

cdef struct Purge:               # of translations, as a mark says
    uint64_t first, last         # pages without their region
    uint64_t region              # low bits of its identifier
    bint code, data              # sides

cdef struct PageMap:             # an open hash table by page number
    PageEntry* entries
    uint64_t mask, count


cdef struct ThreadPages:         # the translations of one hardware thread
    PageMap data                 # virtual page -> tagged address of its first byte
    PageMap code                 # ... of code that has run
    PageEntry recent[RECENT_PAGES]       # of `data`, by low bits of the page
    uint64_t named               # the latest PAGE_ADDRESS
    uint64_t code_page, code_base        # the code that ran last


@cython.final
cdef class PhysicalAddresses:
    cdef ThreadPages* threads    # of a core: two
    cdef ThreadPages* own        # of the one that has the core
    cdef PageEntry* recent       # ... its recent ones
    cdef uint64_t thread         # in what owns its aliases: 0 or SECOND_THREAD
    cdef PageMap data_owners     # tagged page -> the virtual page with this alias of the frame, its region and thread
    cdef PageMap code_owners
    cdef readonly bint lost      # sticky: there was no memory for a page

    # This hardware thread has the core.
    cdef void choose_thread(self, uint32_t thread) noexcept nogil
    # Takes a mark PAGE_ADDRESS or PAGE_FRAME.
    cdef void take_page(self, uint64_t mark) noexcept nogil
    # Returns the tagged address of a block's page, by its head.
    cdef uint64_t block_base(self, uint64_t ip, uint64_t physical) noexcept nogil
    # Code of a page runs from now on, at this tagged address.
    cdef void enter_code(self, uint64_t ip, uint64_t base) noexcept nogil
    # Returns the physical address of code; NO_FRAME: none has run in its page.
    cdef uint64_t of_code(self, uint64_t address) noexcept nogil
    # Whether a purge covers the translation of a tagged page, by low bits of the region's identifier.
    cdef bint covers_data(self, const Purge* purge, uint64_t page) noexcept nogil
    # ... of code, in any region.
    cdef bint covers_code(self, const Purge* purge, uint64_t page) noexcept nogil
    cdef uint64_t look_up(self, uint64_t address) noexcept nogil
    cdef void map_page(self, uint64_t page, uint64_t base, bint translated, uint64_t region) noexcept nogil
    cdef uint64_t tagged(self, PageMap* owners, uint64_t base, uint64_t owner) noexcept nogil


cdef inline Purge purge_of(uint64_t mark, uint64_t address) noexcept nogil:
    """Returns the purge of a PURGE and its PURGE_ADDRESS."""
    cdef Purge purge
    cdef uint64_t bits = mark_value(mark) >> 2 & 0x3F
    purge.code, purge.data = mark_value(mark) & 1, mark_value(mark) >> 1 & 1
    purge.region = mark_value(mark) >> 8 & REGION_NUMBERS - 1
    purge.first = address & OFFSET_PAGES - 1
    purge.last = purge.first | ((<uint64_t>1 << bits - FRAME_SHIFT) - 1 if bits > FRAME_SHIFT else 0)
    return purge


cdef inline uint64_t tagged_address(PhysicalAddresses pages, uint64_t address) noexcept nogil:
    """Returns the tagged physical address of data."""
    cdef const PageEntry* recent = &pages.recent[address >> FRAME_SHIFT & RECENT_PAGES - 1]
    if recent.page == address >> FRAME_SHIFT:
        return recent.value | address & (1 << FRAME_SHIFT) - 1
    return pages.look_up(address)
