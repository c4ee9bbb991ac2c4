"""Translation of data addresses: see data_translation.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport ACCESS_FILL, ACCESS_FLOAT_LOAD, ACCESS_FLOAT_STORE, ACCESS_LOAD

cdef enum:
    MASK_BITS = 64
    MAX_WALKED_INSTRUCTIONS = 128    # of a block (block_plan.pxd, MAX_PLAN_LENGTH)

cdef struct Walk:                # of the page walker of a whole system, as a mark says
    uint64_t entry               # physical address of the VHPT entry that it read; 0: none
    uint32_t outcome             # stream_words.Walk


cdef inline bint is_float(int kind) noexcept nogil:
    return kind == ACCESS_FLOAT_LOAD or kind == ACCESS_FLOAT_STORE


cdef inline bint reads_first_level(int kind) noexcept nogil:
    return kind == ACCESS_LOAD or kind == ACCESS_FILL


cdef class DataTranslation:
    """The data TLBs and the page walker, in front of L2 and with the L1D whose tags they validate."""

    cdef readonly L2 l2
    cdef TagStore cache          # L1D
    cdef Tlb tlb1, tlb2
    cdef TagStore pages1, pages2 # their tags
    cdef PageTable table
    cdef bint prevalidated       # lines of L1D are invalidated with their entry of tlb1
    cdef uint64_t* lines         # by entry of tlb1: lines of its page filled into L1D, a bit for every 64th
    cdef int64_t transfer_cycles, walk_cycles, software_cycles, exception_cycles
    cdef uint32_t page_shift, entry_shift
    # For threads of one program and a whole system: possible bits of physical addresses. All ones: each thread has its
    # own addresses, which translation does not change.
    cdef uint64_t physical
    cdef uint64_t line_bits      # ... of the tags of L1D
    cdef PhysicalAddresses pages # of a whole system; None: a program's
    cdef Walk walks[MAX_WALKED_INSTRUCTIONS]     # by instruction of the current block: those that its marks name
    cdef uint32_t walking        # the instruction whose access walks

    # Translates an address; returns the cycle in which the access can proceed, -1: it is dropped. `drops`: the access
    # takes no fault.
    @cython.final
    cdef int64_t translate(self, EventLog* event_log, uint64_t address, int kind, bint drops, int64_t now,
                           AccessResult* out) noexcept nogil
    # Handles a speculative load of an unmapped page: returns the cycle of its NaT. No translation is kept.
    @cython.final
    cdef int64_t find_no_page(self, EventLog* event_log, uint64_t address, int kind, int64_t now,
                              AccessResult* out) noexcept nogil
    # Gives two threads the same pages: ``thread_id`` distinguishes only their translations.
    @cython.final
    cdef void share_addresses(self, uint64_t thread_id) noexcept nogil
    # `translate` of a whole system: its second-level TLB are the engine's translation caches.
    @cython.final
    cdef int64_t translate_tagged(self, EventLog* event_log, uint64_t address, int kind, bint walks, int64_t now,
                                  AccessResult* out) noexcept nogil
    # Walks as a mark says; returns the cycle in which the walk is done.
    @cython.final
    cdef int64_t follow_walk(self, EventLog* event_log, const Walk* walk, int64_t now, AccessResult* out) noexcept nogil
    # Purges the first level.
    @cython.final
    cdef void purge(self) noexcept nogil
    # Purges what a purge of translations covers in the first level; of floating-point accesses the pages used last, too.
    @cython.final
    cdef void purge_pages(self, const Purge* purge) noexcept nogil
    @cython.final
    cdef int64_t walk(self, EventLog* event_log, uint64_t address, int kind, bint drops, int64_t now,
                      AccessResult* out) noexcept nogil
    @cython.final
    cdef int64_t read_entry(self, EventLog* event_log, uint64_t vhpt_address, int64_t now,
                            AccessResult* out) noexcept nogil
    # Enters the operating system in cycle `now`; returns the cycle of its exit.
    @cython.final
    cdef int64_t enter_kernel(self, EventLog* event_log, int kind, int64_t now, AccessResult* out) noexcept nogil
    @cython.final
    cdef bint lacks_l2_entry(self, uint64_t address) noexcept nogil
    @cython.final
    cdef void insert_first(self, uint64_t address) noexcept nogil
    @cython.final
    cdef void insert_second(self, uint64_t address) noexcept nogil
    @cython.final
    cdef void drop_lines(self, int64_t entry) noexcept nogil


cdef inline void record_filled_line(DataTranslation data, uint64_t address) noexcept nogil:
    """Records a line filled into L1D."""
    cdef int64_t entry
    if data.prevalidated:
        entry = quick_find(data.pages1, address)
        if entry != ABSENT:
            data.lines[entry] |= <uint64_t>1 << (address >> data.cache.shift & (MASK_BITS - 1))
