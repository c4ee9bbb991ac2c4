"""Instruction side of the memory hierarchy: L1I, instruction TLBs, prefetch, streaming buffer."""

cimport cython
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t


cdef extern from *:
    const uint64_t NO_PAGE "UINT64_MAX"

cdef enum:
    WINDOW = 32                  # bytes fetched together: a pair of bundles
    RECENT_CODE_LINES = 256
    PAGE_CLASSES = 256           # of pages, by low bits of their numbers

cdef struct Fetched:
    int64_t ready                # cycle in which the window arrives
    uint32_t cause               # stall_causes.pxd, FrontCause, if it arrives later than requested
    uint32_t second_cause        # a part of the wait may have another cause (a TLB miss, then a cache miss)
    uint32_t second_cycles
    int64_t asked                # cycle of L2's request for the line; -1: it hit L1I or the streaming buffer
    uint32_t under_way           # it was already requested
    uint32_t level               # capture_listener.TlbLevel: the level that served a miss of the first-level TLB
    int64_t kernel               # cycles of the wait spent in the operating system

cdef struct RecentFetch:         # the line used last of those of some sets: in L1I, and the most recent
    uint64_t line                # number; NO_LINE
    int64_t ready

cdef struct PrefetchStream:      # lines still to be prefetched
    uint64_t next
    uint32_t left                # lines up to its current limit
    bint active                  # it continues when a line that it prefetched is fetched
    int64_t since                # cycle from which the next one can be requested


@cython.final
cdef class InstructionFetch:
    """Instruction side of the memory hierarchy, from which the front end fetches bundles."""

    cdef readonly L2 l2
    cdef readonly BranchPredictor predictor
    cdef TagStore cache
    cdef Tlb tlb1
    cdef Tlb tlb2                # None: the first level is the only one
    cdef PageTable table
    cdef PhysicalAddresses pages # of a whole system; None: a program's
    cdef Walk walk_due           # of a whole system: the walk of the next fetch that misses
    cdef bint walks              # there is one
    cdef uint64_t thread         # set in the TLBs' addresses of the running thread, if both have the same addresses
    cdef uint64_t shared         # ... of both of them; 0: each has its own
    cdef bint prevalidated       # lines of a page are invalidated with its entry in the first TLB
    cdef uint32_t brought        # bytes per request to L2
    cdef uint32_t line, line_shift, tlb_shift, page_shift, entry_shift
    cdef uint32_t page_lines_shift       # a line's number to its page's in the first-level TLB
    cdef int64_t transfer_cycles, walk_cycles, software_cycles
    cdef RecentFetch recent[RECENT_CODE_LINES]         # by low bits of the line's number
    cdef uint64_t recent_mask
    cdef uint64_t last_page      # number of the page used last: its entry is present, and the most recent
    cdef uint16_t page_lines[PAGE_CLASSES]        # lines in L1I of the pages of a class
    cdef StreamingBuffer buffer
    cdef Queue requests          # RAB: lines in flight
    cdef Queue hints             # PVAB: addresses of hints that wait for the prefetch pipeline
    cdef PrefetchStream stream
    cdef uint32_t stream_lines
    cdef int64_t prefetch_free   # cycle from which the prefetch pipeline takes a hint
    cdef LineGroup groups[LINE_GROUPS]            # contents of L1I and the streaming buffer

    # Whether the window's line is in L1I and its page in the first-level TLB: then it arrives when requested.
    cdef bint quick(self, uint64_t address, int64_t now) noexcept nogil
    # The same for all windows of a line, by its number.
    cdef bint quick_line(self, uint64_t number, int64_t now) noexcept nogil
    cdef void record_quick(self, EventLog* event_log) noexcept nogil
    cdef void fetch(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    # Snoops for an fc whose address the recording lacks.
    cdef void record_flush(self, EventLog* event_log) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil
    cdef bint lost(self) noexcept nogil
    # Returns the cycle up to which all queues are final when the front end is at cycle ``now``.
    cdef int64_t final_cycle(self, int64_t now) noexcept nogil

    cdef bint quick_otherwise(self, uint64_t address, int64_t now) noexcept nogil
    cdef void used(self, uint64_t address, int64_t ready) noexcept nogil
    cdef int64_t translate(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    # `translate` of a whole system: its second-level TLB are the engine's translation caches.
    cdef int64_t translate_tagged(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    # Walks as a mark says; returns the cycle in which the walk is done.
    cdef int64_t follow_walk(self, EventLog* event_log, const Walk* walk, int64_t now) noexcept nogil
    # The next block begins at ``address``, in the page with this number of an alias.
    cdef void begin_block(self, uint64_t address, uint64_t alias) noexcept nogil
    # Purges the first level: all of it, or what a purge of translations covers.
    cdef void purge(self, EventLog* event_log) noexcept nogil
    cdef void purge_pages(self, EventLog* event_log, const Purge* purge) noexcept nogil
    cdef bint entry_is_purged(self, uint64_t entry, const Purge* purge) noexcept nogil
    cdef void purge_entry(self, uint64_t entry) noexcept nogil
    cdef int64_t walk(self, EventLog* event_log, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    cdef void insert_first(self, EventLog* event_log, uint64_t address) noexcept nogil
    cdef int64_t fetch_line(self, EventLog* event_log, uint64_t address, int64_t entry, int64_t now,
                       Fetched* out) noexcept nogil
    cdef void fill(self, EventLog* event_log, uint64_t address, int64_t ready) noexcept nogil
    cdef void drop(self, uint64_t address) noexcept nogil
    cdef uint16_t* lines_of(self, uint64_t address) noexcept nogil
    cdef void drop_page(self, uint64_t page) noexcept nogil
    cdef int64_t request_line(self, EventLog* event_log, uint64_t line, int kind, int64_t now) noexcept nogil
    # Records so many line requests.
    cdef void record_lines(self, EventLog* event_log, uint32_t asked) noexcept nogil
    cdef LineGroup* group_of(self, uint64_t number) noexcept nogil
    cdef void find_lines(self, LineGroup* group, uint64_t number) noexcept nogil
    cdef bint present(self, uint64_t line) noexcept nogil
