"""L1D and the store buffer, accessed after translation (data_translation.pyx).

L1D is write-through and does not allocate on stores; it serves integer loads and the fills of the register stack
engine. Floating-point accesses, stores, semaphores and line prefetches go to L2.
"""

cdef enum:
    SLOW_PATH_FLAGS = ACCESS_ACQUIRE | ACCESS_RELEASE | ACCESS_NT1 | ACCESS_NT2 | ACCESS_NTA | ACCESS_EXCLUSIVE

cdef int REQUEST[ACCESS_KINDS]
REQUEST[<int>ACCESS_LOAD] = REQUEST_READ
REQUEST[<int>ACCESS_FLOAT_LOAD] = REQUEST_FLOAT_READ
REQUEST[<int>ACCESS_STORE] = REQUEST_WRITE
REQUEST[<int>ACCESS_FLOAT_STORE] = REQUEST_WRITE
REQUEST[<int>ACCESS_SEMAPHORE] = REQUEST_SEMAPHORE
REQUEST[<int>ACCESS_LFETCH] = REQUEST_PREFETCH
REQUEST[<int>ACCESS_FILL] = REQUEST_READ
REQUEST[<int>ACCESS_SPILL] = REQUEST_WRITE


cdef inline uint32_t request_flags(uint32_t flags) noexcept nogil:
    """Converts the flags of an access to those of a request to L2."""
    cdef uint32_t converted = 0
    if flags & ACCESS_ACQUIRE:
        converted |= REQUEST_ACQUIRE
    if flags & ACCESS_RELEASE:
        converted |= REQUEST_RELEASE
    if flags & ACCESS_EXCLUSIVE:
        converted |= REQUEST_EXCLUSIVE
    if flags & (ACCESS_NT2 | ACCESS_NTA):
        converted |= REQUEST_NO_RECENCY
    if flags & ACCESS_NTA:
        converted |= REQUEST_NO_L3
    return converted


cdef class DataMemory:
    """The data side with the figures of ``config`` ([l1d], [dtlb1], [dtlb2], [vhpt]) in front of ``l2``."""

    def __cinit__(self, config, L2 l2):
        cdef int entry, kind
        name = "l2d" if l2.split else "l2"
        self.cache = cache_tags(config, "l1d")
        l2.victims.first_level = self.cache if config[f"{name}.inclusive"] else None
        self.lines2 = l2.data
        self.no_number = <uint64_t>-1
        self.latency = config["l1d.latency"]
        self.conflict_cycles = config["l1d.conflict"] - l2.latency
        self.recirculation = Cause.L1D_PIPE_RECIRC if config["machine.pmu"] == "montecito" else Cause.L1D_DCURECIR
        start_store_conflicts(&self.store_conflicts, config["l1d.store_window"])
        start_queue(&self.fills, config["l1d.fills"])
        start_queue(&self.store_buffer, config["l1d.store_buffer"])
        for kind in range(4):
            for entry in range(RECENT_DATA_LINES):
                self.recent_line[kind][entry].translation.number = &self.no_number
                self.recent_line[kind][entry].line.number = &self.no_number
                self.recent_line[kind][entry].line.info = &self.no_info
        self.cycle = -1
        for kind in range(ACCESS_KINDS):
            self.quick_latency[kind] = l2.latency
        self.quick_latency[<int>ACCESS_LOAD] = self.quick_latency[<int>ACCESS_FILL] = self.latency
        self.quick_latency[<int>ACCESS_FLOAT_LOAD] += l2.float_extra

    cdef bint quick(self, uint64_t address, uint32_t size, int kind, int64_t now) noexcept nogil:
        cdef RecentLine* recent_line
        cdef int64_t page, entry
        cdef int known
        if now < self.ordered:
            return 0
        if kind == ACCESS_LOAD or kind == ACCESS_FILL:
            known = recent_load(self, address, size, now)
            if known != NOT_RECENT:
                return known
            page, entry = quick_find(self.pages1, address), quick_find(self.cache, address & self.line_bits)
            return page != ABSENT and entry != ABSENT and self.quick_load(page, entry, address, size, now)
        if kind == ACCESS_FLOAT_LOAD:
            recent_line = &self.recent_line[1][address >> RECENT_LINE_SHIFT & RECENT_DATA_LINES - 1]
            if not self.repeats_recent(self.pages2, address, now, recent_line) \
                    and not self.quick_l2(self.pages2, address, kind, now, recent_line):
                return 0
            plan_read(&self.l2.banks, address, now)
            return 1
        if now < self.l2.latest or (now < self.filled and self.is_in_flight(address, now)):
            return 0             # a release may have to wait, a store may conflict with a fill of L1D
        if kind == ACCESS_STORE or kind == ACCESS_SPILL:
            recent_line = &self.recent_line[2][address >> RECENT_LINE_SHIFT & RECENT_DATA_LINES - 1]
            if recent_line.line.info.state != MODIFIED \
                    or not self.repeats_recent(self.pages1, address, now, recent_line):
                if not self.quick_l2(self.pages1, address, kind, now, recent_line):
                    return 0
        elif kind == ACCESS_FLOAT_STORE:
            recent_line = &self.recent_line[3][address >> RECENT_LINE_SHIFT & RECENT_DATA_LINES - 1]
            if recent_line.line.info.state != MODIFIED \
                    or not self.repeats_recent(self.pages2, address, now, recent_line):
                if not self.quick_l2(self.pages2, address, kind, now, recent_line):
                    return 0
        else:
            return 0
        enter_store(&self.store_conflicts, address, size, now)
        return 1

    # Whether an address' line is in flight to L1D.
    cdef bint is_in_flight(self, uint64_t address, int64_t now) noexcept nogil:
        cdef int64_t entry = quick_find(self.cache, address & self.line_bits)
        return entry != ABSENT and self.cache.infos[entry].ready > now

    # Whether an access served by L2 hits the recent line and has no conflicts.
    cdef bint repeats_recent(self, TagStore pages, uint64_t address, int64_t now,
                             const RecentLine* recent_line) noexcept nogil:
        return (now >= self.l2.quick_from and is_recent(recent_line, self.lines2, pages, address,
                                                        address & self.physical)
                and recent_line.line.info.ready <= now
                and touch_known(pages, &recent_line.translation) and touch_known(self.lines2, &recent_line.line))

    # `quick` for accesses served by L2, except that a store is not recorded for later conflicts.
    cdef bint quick_l2(self, TagStore pages, uint64_t address, int kind, int64_t now,
                          RecentLine* recent_line) noexcept nogil:
        cdef int64_t page = quick_find(pages, address)
        if page == ABSENT or not self.l2.quick(address & self.physical, REQUEST[kind], now):
            return 0
        use(pages, page)
        get_known_line(pages, page, &recent_line.translation)
        get_known_line(self.lines2, quick_find(self.lines2, address & self.physical), &recent_line.line)
        return 1

    cdef int other_load(self, uint64_t address, uint32_t size, uint32_t flags, int64_t now) noexcept nogil:
        cdef int64_t page = quick_find(self.pages1, address), entry = quick_find(self.cache, address & self.line_bits)
        if page == ABSENT:
            return SLOW
        if entry == ABSENT:
            return PLAIN if self.read_l2(page, address, size, flags, now) else SLOW
        return self.quick_load(page, entry, address, size, now)

    # `quick` for an integer load whose page and line hit.
    cdef bint quick_load(self, int64_t page, int64_t entry, uint64_t address, uint32_t size,
                         int64_t now) noexcept nogil:
        cdef RecentLine* recent_line = &self.recent_line[0][address >> RECENT_LINE_SHIFT & RECENT_DATA_LINES - 1]
        if self.cache.infos[entry].ready > now:
            return 0
        use(self.pages1, page)
        use(self.cache, entry)
        get_known_line(self.pages1, page, &recent_line.translation)
        get_known_line(self.cache, entry, &recent_line.line)
        return not conflicts(&self.store_conflicts, address, size, now)

    # `plain` for an integer load whose page hits and whose line misses.
    cdef bint read_l2(self, int64_t page, uint64_t address, uint32_t size, uint32_t flags, int64_t now) noexcept nogil:
        cdef uint64_t physical = address & self.physical
        cdef int64_t line
        if flags & SLOW_PATH_FLAGS or first_free_cycle(&self.fills, now) > now or conflicts(&self.store_conflicts,
                                                                                         address, size, now):
            return 0
        line = self.l2.find_plain_line(physical, now)
        if line == ABSENT:
            return 0
        plan_read(&self.l2.banks, address, now)
        if self.l2.banks.reissues:
            return 0
        use(self.pages1, page)
        self.put_line(address, now, self.l2.read_plain(line, now))
        return 1

    cdef void record_plain(self, EventLog* event_log) noexcept nogil:
        record(event_log, Occurrence.L1D_READ, 1)
        record(event_log, Occurrence.L1D_READ_MISS, 1)
        self.l2.record_quick(event_log, REQUEST_READ, 0)

    cdef void record_quick(self, EventLog* event_log, int kind, uint32_t reissues) noexcept nogil:
        if reads_first_level(kind):
            record(event_log, Occurrence.L1D_READ, 1)
        else:
            self.l2.record_quick(event_log, REQUEST[kind], reissues)

    cdef void access(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags, int64_t now,
                     AccessResult* out) noexcept nogil:
        cdef int64_t start
        now = self.begin(now, out)
        if self.pages is not None:
            start = self.translate_tagged(event_log, address, kind, flags & ACCESS_WALKED != 0, now, out)
            if address & NO_FRAME and kind == ACCESS_LFETCH:
                record(event_log, Occurrence.LFETCH_DROPPED, 1)
                start = -1
        elif flags & ACCESS_NO_PAGE:
            start = self.find_no_page(event_log, address, kind, now, out)
        else:
            start = self.translate(event_log, address, kind, kind == ACCESS_LFETCH and not flags & ACCESS_FAULTING, now,
                                   out)
        if flags & ACCESS_DEFERRED:
            out.ready = start
            if reads_first_level(kind):
                record(event_log, Occurrence.L1D_READ, 1)
        elif address & self.uncached and kind != ACCESS_FLUSH:
            out.ready = self.bypass(event_log, address, kind, now if kind == ACCESS_LFETCH else start, out)
        elif kind == ACCESS_LFETCH:
            out.ready = now
            if start >= 0:       # without a translation it is not performed
                self.prefetch(event_log, address, size, flags, start, out)
        elif kind == ACCESS_FLUSH:
            out.ready = start
            self.flush(event_log, address, start, out)
        elif is_store(kind):
            out.ready = self.store(event_log, address, size, kind, flags, start, out)
        elif reads_first_level(kind):
            out.ready = self.load(event_log, address, size, kind, flags, start, out)
        else:
            out.asked = start = self.in_order(flags, start, out)
            if kind == ACCESS_SEMAPHORE:
                enter_store(&self.store_conflicts, address, size, start)
            out.ready = self.l2.request(event_log, address & self.physical, size, REQUEST[kind], request_flags(flags),
                                        start)
            stall_until(out, Cause.L1D_L2BPRESS, start, self.l2.taken)
            if flags & ACCESS_ACQUIRE:
                self.ordered = out.ready
        self.end(out)

    cdef int64_t begin(self, int64_t now, AccessResult* out) noexcept nogil:
        out.stalls, out.level, out.asked = 0, TlbLevel.TLB_HIT, -1
        if now != self.cycle:
            self.cycle, self.stalled = now, 0
        return now + self.stalled

    cdef void end(self, const AccessResult* out) noexcept nogil:
        cdef uint32_t stall
        for stall in range(out.stalls):
            self.stalled += out.cycles[stall]

    cdef int64_t load(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags, int64_t now,
                      AccessResult* out) noexcept nogil:
        cdef int64_t entry, ready
        cdef bint forced
        now = self.in_order(flags, now, out)
        forced = conflicts(&self.store_conflicts, address, size, now)
        record(event_log, Occurrence.L1D_READ, 1)
        entry = quick_find(self.cache, address & self.line_bits)
        if forced:
            now = stall_until(out, self.recirculation, now, now + self.conflict_cycles)
        if entry != ABSENT:
            use(self.cache, entry)
            if self.cache.infos[entry].ready > now:
                forced = 1
            if not forced:
                return now + self.latency
        record(event_log, Occurrence.L1D_READ_MISS, 1)
        if kind == ACCESS_FILL:
            record(event_log, Occurrence.L1D_FILL_READ_MISS, 1)
        if forced:
            record(event_log, Occurrence.L1D_FORCED_MISS, 1)
        out.asked = now
        ready = self.l2.request(event_log, address & self.physical, size, REQUEST_READ, request_flags(flags), now)
        now = stall_until(out, Cause.L1D_L2BPRESS, now, self.l2.taken)
        if entry == ABSENT:
            self.fill_line(address, flags, now, ready)
        if flags & ACCESS_ACQUIRE:
            self.ordered = ready
        return ready

    # Fills a line into L1D, if a fill buffer is free and the access has no .nt1, .nt2 or .nta hint.
    cdef void fill_line(self, uint64_t address, uint32_t flags, int64_t now, int64_t ready) noexcept nogil:
        if not flags & (ACCESS_NT1 | ACCESS_NT2 | ACCESS_NTA) and first_free_cycle(&self.fills, now) <= now:
            self.put_line(address, now, ready)

    # Fills a line into L1D; a fill buffer is free.
    cdef void put_line(self, uint64_t address, int64_t now, int64_t ready) noexcept nogil:
        enter_queue(&self.fills, now, ready)
        record_filled_line(self, address)
        address &= self.line_bits
        if ~self.physical & self.line_bits:
            self.invalidate_alias(address)
        self.cache.put(self.cache.victim(address), address, EXCLUSIVE, ready, 1)
        if ready > self.filled:
            self.filled = ready

    # A line is in L1D once: its tag names a translation of one thread (Montecito manual 2.4.3.1.2).
    cdef void invalidate_alias(self, uint64_t address) noexcept nogil:
        cdef int64_t entry = quick_find(self.cache, address ^ (~self.physical & self.line_bits))
        if entry != ABSENT:
            self.cache.clear(entry)

    cdef void prefetch(self, EventLog* event_log, uint64_t address, uint32_t size, uint32_t flags, int64_t now,
                       AccessResult* out) noexcept nogil:
        cdef int64_t entry = quick_find(self.cache, address & self.line_bits), ready
        if entry != ABSENT and not flags & ACCESS_EXCLUSIVE:
            use(self.cache, entry)
            return
        ready = self.l2.request(event_log, address & self.physical, size, REQUEST_PREFETCH, request_flags(flags), now)
        now = stall_until(out, Cause.L1D_L2BPRESS, now, self.l2.taken)
        if entry == ABSENT:
            self.fill_line(address, flags, now, ready)

    # Returns the cycle from which earlier acquires let an access proceed.
    cdef int64_t in_order(self, uint32_t flags, int64_t now, AccessResult* out) noexcept nogil:
        return stall_until(out, Cause.L1D_LDCHK if flags & ACCESS_CHECK else Cause.L1D_LDCONF, now, self.ordered)

    cdef int64_t store(self, EventLog* event_log, uint64_t address, uint32_t size, int kind, uint32_t flags,
                       int64_t now,
                       AccessResult* out) noexcept nogil:
        cdef int64_t taken, entry = quick_find(self.cache, address & self.line_bits)
        if entry != ABSENT and self.cache.infos[entry].ready - now <= self.store_conflicts.window:
            now = stall_until(out, Cause.L1D_FILLCONF, now, self.cache.infos[entry].ready)
        now = stall_until(out, Cause.L1D_FULLSTBUF, now, first_free_cycle(&self.store_buffer, now))
        enter_store(&self.store_conflicts, address, size, now)
        taken = self.l2.request(event_log, address & self.physical, size, REQUEST_WRITE, request_flags(flags), now)
        if taken > now:
            enter_queue(&self.store_buffer, now, taken)
        return now

    cdef void fence(self, int64_t now, AccessResult* out) noexcept nogil:
        cdef int64_t done
        now = self.begin(now, out)
        done = self.l2.fence(now)
        out.ready = stall_until(out, Cause.L1D_L2BPRESS, now, self.l2.taken)
        if done > self.ordered:
            self.ordered = done
        self.end(out)

    cdef void flush(self, EventLog* event_log, uint64_t address, int64_t now, AccessResult* out) noexcept nogil:
        cdef uint64_t physical = address & self.physical, size = <uint64_t>1 << self.l2.data.shift
        cdef uint64_t line = physical & ~(size - 1), part = line
        cdef int64_t entry
        record(event_log, Occurrence.L1I_SNOOPED, 1)
        while part < line + size:
            entry = quick_find(self.cache, part | (address & ~self.physical & self.line_bits))
            if entry != ABSENT:
                self.cache.clear(entry)
            if ~self.physical & self.line_bits:
                self.invalidate_alias(part | (address & ~self.physical))
            part += <uint64_t>1 << self.cache.shift
        part = line
        while self.fetch is not None and part < line + size:
            self.fetch.drop(part)
            part += self.fetch.line
        self.l2.flush(event_log, physical, now)
        stall_until(out, Cause.L1D_L2BPRESS, now, self.l2.taken)

    cdef int64_t bypass(self, EventLog* event_log, uint64_t address, int kind, int64_t now,
                        AccessResult* out) noexcept nogil:
        """Stores to memory that is write-coalescing gather in buffers of 128 bytes, which are one transaction each."""
        cdef uint64_t block = (address & PHYSICAL_BITS) >> COALESCING_SHIFT
        cdef bint stores = is_store(kind)
        cdef uint32_t i
        if kind == ACCESS_LFETCH:    # there is nothing to prefetch into
            return now
        if address & UNCACHEABLE:
            record(event_log, Occurrence.UNCACHEABLE_STORE if stores else Occurrence.UNCACHEABLE_LOAD, 1)
        elif stores:
            for i in range(COALESCING_BUFFERS):
                if self.coalesced[i] == block:
                    return now
            self.coalesced[self.next_coalesced] = block
            self.next_coalesced = (self.next_coalesced + 1) % COALESCING_BUFFERS
        out.asked = -1 if stores else now
        now = self.l2.transfer(event_log, stores, now)
        return self.l2.taken if stores else now

    cdef void use_pages(self, PhysicalAddresses pages) noexcept:
        self.pages = pages
        self.physical = self.line_bits = ~ALIAS_BITS
        self.uncached = UNCACHEABLE | COALESCING
        self.coalesced[0] = self.coalesced[1] = NO_PAGE_NUMBER

    cdef void account_levels(self, EventSetAccounting shares) noexcept nogil:
        """Accounts these levels by event set."""
        account_queue(shares, &self.fills)

    cdef bint lost(self) noexcept nogil:
        """Whether a queue had too many entries."""
        return self.fills.lost or self.fills.level.lost or self.store_buffer.lost

    cdef void finish(self, int64_t now) noexcept nogil:
        finish_queue(&self.fills, now)
        self.l2.finish(now)

    def levels(self) -> dict[str, list[int]]:
        """Cycles with 0, 1, ... lines in flight to L1D."""
        return {"L1_MISSES": queue_levels(&self.fills)}

    # For tests and tools.

    def access_at(
        self, address: int, kind: int, now: int, size: int = 8, flags: int = 0
    ) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]]]:
        """Performs one access (kinds and flags of data_memory.pxd): cycle of the value, stalls, occurrences."""
        cdef EventLog event_log
        cdef AccessResult served
        event_log.count, event_log.context = 0, 0
        self.access(&event_log, address, size, kind, flags, now, &served)
        stalls = [(served.cause[i], served.cycles[i]) for i in range(served.stalls)]
        return served.ready, stalls, recorded(&event_log)

    def quick_at(self, address: int, kind: int, now: int, size: int = 8) -> bool:
        """Calls quick() for an access; if it succeeds, also issues it in this cycle, like the pipeline."""
        cdef bint said = self.quick(address, size, kind, now)
        if said and not reads_first_level(kind):
            self.l2.issue_early(address, kind == ACCESS_FLOAT_LOAD,
                              self.l2.banks.reissues if kind == ACCESS_FLOAT_LOAD else 0, now)
        return said

    def plain_at(self, address: int, kind: int, now: int, size: int = 8, flags: int = 0) -> bool:
        """Whether an access that is not quick is a PLAIN load; then it is performed."""
        if kind != ACCESS_LOAD or now < self.ordered or self.other_load(address, size, flags, now) != PLAIN:
            return False
        self.l2.issue_early(address, 1, 0, now)
        return True

    def plain_events(self) -> list[tuple[int, int]]:
        """Returns the occurrences of a plain access."""
        cdef EventLog event_log
        event_log.count, event_log.context = 0, 0
        self.record_plain(&event_log)
        return recorded(&event_log)

    def quick_events(self, kind: int) -> list[tuple[int, int]]:
        """Returns the occurrences of the last access for which quick() succeeded."""
        cdef EventLog event_log
        event_log.count, event_log.context = 0, 0
        self.record_quick(&event_log, kind, self.l2.banks.reissues if kind == ACCESS_FLOAT_LOAD else 0)
        return recorded(&event_log)

    def quick_latency_of(self, kind: int) -> int:
        """Cycles from issue to use of the last access for which quick() succeeded."""
        return self.quick_latency[kind] + self.l2.reissue_cycles(
            self.l2.banks.reissues if kind == ACCESS_FLOAT_LOAD else 0)

    def stores(self) -> dict[str, TagStore]:
        """Its tags: "l1d", "dtlb1", "dtlb2"."""
        return {"l1d": self.cache, "dtlb1": self.tlb1.tags, "dtlb2": self.tlb2.tags}
