"""Data side of the memory hierarchy: the pipeline's requests, and results."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.isa.ia64._encodings cimport (
    ACCESS_ACQUIRE, ACCESS_CHECK, ACCESS_EXCLUSIVE, ACCESS_FAULTING, ACCESS_FILL, ACCESS_FLOAT_LOAD, ACCESS_FLOAT_STORE,
    ACCESS_FLUSH, ACCESS_KINDS, ACCESS_LFETCH, ACCESS_LOAD, ACCESS_NT1, ACCESS_NT2, ACCESS_NTA, ACCESS_RELEASE,
    ACCESS_SEMAPHORE, ACCESS_SPECULATIVE, ACCESS_SPILL, ACCESS_SPILL_FILL, ACCESS_STORE)

cdef enum AccessFate:            # of a speculative load that delivered NaT, with the flags of ACCESS_*
    ACCESS_DEFERRED = 1 << 16    # it reads nothing
    ACCESS_NO_PAGE = 1 << 17     # ... as its page is not mapped
    ACCESS_WALKED = 1 << 18      # of a whole system: the page walker ran for it (DataTranslation.walks)

cdef enum:
    RECENT_DATA_LINES = 128           # a power of two; by kind of access
    RECENT_LINE_SHIFT = 6
    COALESCING_BUFFERS = 2
    COALESCING_SHIFT = 7         # a buffer holds stores to 128 bytes

cdef struct RecentLine:          # line and page of the last quick access
    KnownLine translation
    KnownLine line


cdef inline bint is_store(int kind) noexcept nogil:
    return kind == ACCESS_STORE or kind == ACCESS_FLOAT_STORE or kind == ACCESS_SPILL


@cython.final
cdef class DataMemory(DataTranslation):
    """L1D, data TLBs, page walker, store buffer; backed by an L2."""

    cdef int64_t latency, conflict_cycles
    cdef uint32_t recirculation  # the cause of loads that conflict with a store
    cdef int64_t filled          # cycle in which all lines in flight to L1D have arrived
    cdef int64_t ordered         # until this cycle an acquire load delays later ones
    cdef int64_t cycle, stalled  # of the last access, and the stall for accesses of that cycle
    cdef Queue fills, store_buffer
    cdef StoreConflicts store_conflicts
    # by kind of access: integer loads, floating-point loads, stores, floating-point stores
    cdef RecentLine recent_line[4][RECENT_DATA_LINES]
    cdef TagStore lines2         # the tags of L2
    cdef uint64_t uncached       # bits of tagged addresses: of accesses that bypass the caches
    cdef uint64_t coalesced[COALESCING_BUFFERS]  # by write-coalescing buffer: number of its block of memory
    cdef uint32_t next_coalesced
    cdef InstructionFetch fetch  # that fc reaches; None: there is none
    cdef uint64_t no_number
    cdef Info no_info

    # Whether the access is quick: it hits, without conflicts; then it is performed. `now`: its earliest cycle of issue.
    cdef bint quick(self, uint64_t address, uint32_t size, int kind, int64_t now) noexcept nogil
    # `reissues`: of a read of L2 for its bank, as set by quick().
    cdef void record_quick(self, EventLog* event_log, int kind, uint32_t reissues) noexcept nogil
    # Performs an integer load for which recent_load() returned NOT_RECENT. Returns QUICK; PLAIN: it misses L1D and hits
    # L2 with exactly L2's latency; SLOW: it was not performed. `now` as for quick().
    cdef int other_load(self, uint64_t address, uint32_t size, uint32_t flags, int64_t now) noexcept nogil
    cdef void record_plain(self, EventLog* event_log) noexcept nogil
    cdef void access(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags, int64_t now,
                     AccessResult* out) noexcept nogil
    # mf: later accesses wait for all earlier ones.
    cdef void fence(self, int64_t now, AccessResult* out) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil
    cdef bint lost(self) noexcept nogil

    # Latency from issue to use after quick() succeeded, by kind.
    cdef int64_t quick_latency[ACCESS_KINDS]

    cdef int64_t load(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags, int64_t now,
                      AccessResult* out) noexcept nogil
    cdef int64_t store(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags,
                       int64_t now,
                       AccessResult* out) noexcept nogil
    cdef void prefetch(self, EventLog* event_log, uint64_t address, uint32_t size, uint32_t flags, int64_t now,
                       AccessResult* out) noexcept nogil
    # An access to memory that is uncacheable or write-coalescing.
    cdef int64_t bypass(self, EventLog* event_log, uint64_t address, int kind, int64_t now,
                        AccessResult* out) noexcept nogil
    # Makes this the data side of a whole system.
    cdef void use_pages(self, PhysicalAddresses pages) noexcept
    # fc: the line leaves all caches.
    cdef void flush(self, EventLog* event_log, uint64_t address, int64_t now, AccessResult* out) noexcept nogil
    # Returns the cycle of an access issued in cycle `now`: earlier accesses of its group may have stalled the pipeline.
    cdef int64_t begin(self, int64_t now, AccessResult* out) noexcept nogil
    cdef void end(self, const AccessResult* out) noexcept nogil
    cdef void invalidate_alias(self, uint64_t address) noexcept nogil
    cdef void fill_line(self, uint64_t address, uint32_t flags, int64_t now, int64_t ready) noexcept nogil
    cdef void put_line(self, uint64_t address, int64_t now, int64_t ready) noexcept nogil
    cdef int64_t in_order(self, uint32_t flags, int64_t now, AccessResult* out) noexcept nogil
    cdef bint is_in_flight(self, uint64_t address, int64_t now) noexcept nogil
    cdef bint quick_load(self, int64_t page, int64_t entry, uint64_t address, uint32_t size, int64_t now) noexcept nogil
    cdef bint read_l2(self, int64_t page, uint64_t address, uint32_t size, uint32_t flags, int64_t now) noexcept nogil
    cdef bint quick_l2(self, TagStore pages, uint64_t address, int kind, int64_t now,
                          RecentLine* recent_line) noexcept nogil
    cdef bint repeats_recent(self, TagStore pages, uint64_t address, int64_t now,
                             const RecentLine* recent_line) noexcept nogil


cdef enum:                       # result for an integer load
    SLOW = 0
    QUICK = 1
    PLAIN = 2
    NOT_RECENT = 3


cdef inline bint is_recent(const RecentLine* recent_line, TagStore lines, TagStore pages, uint64_t address,
                             uint64_t physical) noexcept nogil:
    """Whether the line's and the page's entries still hold the line of ``physical`` and the page of this address."""
    return (recent_line.line.number[0] == physical >> lines.shift
            and recent_line.translation.number[0] == address >> pages.shift)


cdef inline int recent_load(DataMemory data, uint64_t address, uint32_t size, int64_t now) noexcept nogil:
    """`DataMemory.quick`, inlined, for an integer load that hits the line and page of the last one in its slot of
    `recent_line`; NOT_RECENT: it does not, and was not performed."""
    cdef const RecentLine* recent_line = &data.recent_line[0][address >> RECENT_LINE_SHIFT & RECENT_DATA_LINES - 1]
    if now < data.ordered:
        return 0
    if (is_recent(recent_line, data.cache, data.pages1, address, address & data.line_bits) and recent_line.line.info.ready <= now
            and touch_known(data.pages1, &recent_line.translation) and touch_known(data.cache, &recent_line.line)):
        return not conflicts(&data.store_conflicts, address, size, now)
    return NOT_RECENT
