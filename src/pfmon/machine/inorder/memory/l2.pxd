"""The memory below the first-level caches, shared by data and instructions: L2, L3, bus, memory."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cpdef enum RequestKind:
    REQUEST_READ = 0             # data for an integer load that missed L1D, or a fill of the register stack engine
    REQUEST_FLOAT_READ = 1       # a floating-point load
    REQUEST_WRITE = 2            # a store or spill
    REQUEST_SEMAPHORE = 3
    REQUEST_PREFETCH = 4         # lfetch
    REQUEST_FETCH = 5            # demand instruction fetch
    REQUEST_FETCH_PREFETCH = 6   # instruction prefetch
    REQUEST_WALK = 7             # the page walker reads the VHPT
    REQUEST_FLUSH = 8            # fc
    REQUEST_KINDS = 9

cpdef enum RequestFlag:
    REQUEST_EXCLUSIVE = 1        # the line is requested for ownership
    REQUEST_ACQUIRE = 2
    REQUEST_RELEASE = 4
    REQUEST_NO_RECENCY = 8       # nt2, nta: the line is the next victim in L2
    REQUEST_NO_L3 = 16           # nta: the line is not allocated in L3


@cython.final
cdef class L2:
    """L2 (or L2D and L2I), L3, the queues before them, the bus."""

    cdef UserClock user_clock    # of the core
    cdef L3 l3
    cdef TagStore data           # L2 or L2D
    cdef TagStore code           # L2I, or the same as `data`
    cdef L2Victims victims
    cdef L2Fetches fetches
    cdef bint split
    cdef int64_t latency, queued_latency, semaphore_latency
    cdef int64_t lookup_cycles   # between lookups of a line in flight; 0: only on its arrival
    cdef int64_t float_extra, l3_float_extra
    cdef int64_t reissue_latency # minimum cycles until a cancelled access is reissued
    cdef int64_t busy_until      # until this cycle the OzQ holds a miss, a line in flight or an acquire
    cdef int64_t quick_from      # until this cycle a quick access may conflict
    cdef int64_t latest          # cycle in which all accesses so far are done, except hits without conflicts
    cdef int64_t ordered         # until this cycle an acquire or a fence delays later accesses
    cdef int64_t ordering        # cycle in which the OzQ accepted it
    cdef bint ordered_by_fence   # it is a fence
    cdef int64_t reads_done      # cycle in which all reads that were issued again for a bank or port alone are done
    cdef int64_t latest_taken    # ... the access that is done in cycle `latest`
    cdef int64_t last_taken
    cdef int64_t taken           # cycle in which the queue accepted the last data request
    cdef Queue ozq, fills, data_buffer, acquires, releases
    cdef Banks banks
    cdef MshrFile mshrs          # lines requested by data; if L2 is unified, by fetches too

    # Returns the arrival of a request of cycle `now`; for a write: the cycle in which the queue accepts it.
    cdef int64_t request(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags,
                         int64_t now) noexcept nogil
    # Whether a read or write, not a release, hits L2 (a write: in state M or E) without conflicts other than with reads
    # of its own cycle (`banks.reissues`). Effects: recency; on success state M for a write.
    cdef bint quick(self, uint64_t address, int kind, int64_t now) noexcept nogil
    # Returns the extra latency of a hit that is reissued for its bank so many times.
    cdef int64_t reissue_cycles(self, uint32_t reissues) noexcept nogil
    # Issues an access of the fast path, which was performed earlier, in cycle `now`: occupies its port and bank.
    cdef void issue_early(self, uint64_t address, bint reads, uint32_t reissues, int64_t now) noexcept nogil
    # Returns the index of a line that a read in cycle `now` hits with exactly L2's latency, or ABSENT. No effect.
    cdef int64_t find_plain_line(self, uint64_t address, int64_t now) noexcept nogil
    # `request` of a read of that line, without its events (`record_quick`) and its bank (`issue_early`).
    cdef int64_t read_plain(self, int64_t entry, int64_t now) noexcept nogil
    cdef void record_quick(self, EventLog* event_log, int kind, uint32_t reissues) noexcept nogil
    # Executes a fence in cycle `now`, accepted by the queue in cycle `taken`: returns the cycle in which all earlier
    # accesses are done, before which no later one is.
    cdef int64_t fence(self, int64_t now) noexcept nogil
    # fc: the line leaves L2, L3 and the other core that shares memory, and is written back if one of them changed it.
    cdef void flush(self, EventLog* event_log, uint64_t address, int64_t now) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil
    cdef bint lost(self) noexcept nogil

    # Transfers less than a line between the pipeline and memory, past the caches: returns the cycle of the data; of a
    # store, the one in which the bus has taken it. Sets `taken`.
    cdef int64_t transfer(self, EventLog* event_log, bint stores, int64_t now) noexcept nogil
    cdef int64_t request_data(self, EventLog* event_log, uint64_t address, int kind, uint32_t flags,
                              int64_t now) noexcept nogil
    # Returns the first cycle from `now` on in which the OzQ accepts an access; sets `taken`.
    cdef int64_t enter(self, int kind, int64_t now) noexcept nogil
    # Returns the first cycle from `start` on in which memory ordering permits an access.
    cdef int64_t in_order(self, EventLog* event_log, int kind, uint32_t flags, int64_t start) noexcept nogil
    # Returns the first cycle from `start` on with a free tag port and bank for an access, which is reissued until then.
    cdef int64_t issue(self, EventLog* event_log, uint64_t address, int kind, bint reaches_data,
                       int64_t start) noexcept nogil
    # Returns the occurrence of an access's conflict in a cycle; NOTHING_HAPPENED: none.
    cdef uint32_t conflict_of(self, uint32_t bank, int kind, int64_t cycle) noexcept nogil
    cdef uint32_t array_conflict(self, uint32_t bank, int kind, int64_t cycle) noexcept nogil
    # Record the recirculations of an access whose line is in flight, of a write that hits, and of a miss.
    cdef void record_recirculation(self, EventLog* event_log, uint64_t address, int kind, int64_t start,
                             int64_t ready) noexcept nogil
    cdef void record_sibling(self, EventLog* event_log, uint64_t address, int64_t start) noexcept nogil
    cdef void record_miss(self, EventLog* event_log, uint64_t address, int64_t start, bint crowded) noexcept nogil
    # `start`: the final cycle of issue; `asked`: the first one.
    cdef int64_t hit(self, EventLog* event_log, int64_t entry, uint64_t address, int kind, uint32_t flags,
                     int64_t asked,
                     int64_t start) noexcept nogil
    cdef int64_t miss(self, EventLog* event_log, uint64_t address, int kind, uint32_t flags,
                      int64_t start) noexcept nogil
    cdef void not_before(self, int64_t done) noexcept nogil
    cdef void record_reissue(self, int64_t taken, int64_t done) noexcept nogil
    cdef void busy(self, int64_t done) noexcept nogil
