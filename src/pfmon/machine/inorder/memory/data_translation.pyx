"""The data TLBs, the page walker, and the invalidation of L1D's lines with their translation.

Both levels are accessed at once (Montecito manual 4.10): a miss of the second level starts a walk, even if the first
hits; a hit only in the second is a transfer. Floating-point accesses use the second alone. L1D is prevalidated
(2.4.3.1): its tags name an entry of the first level, and its lines are invalidated with that.

An entry of the first level whose page was evicted from the second stays, marked; its next use walks.
"""

from libc.stdlib cimport calloc, free

from pfmon.isa.ia64._encodings cimport ACCESS_FILL, ACCESS_SPILL
from pfmon.stream._stream cimport WALK_INSERTED


cdef bint entry_is_purged(PhysicalAddresses pages, TagStore store, uint64_t entry, const Purge* purge) noexcept nogil:
    """Whether a purge of data translations covers one of the pages of an entry."""
    cdef uint64_t number = store.numbers[entry], page = number << (store.shift - FRAME_SHIFT), i
    if number == NO_NUMBER:
        return False
    for i in range(<uint64_t>1 << (store.shift - FRAME_SHIFT)):
        if pages.covers_data(purge, page + i):
            return True
    return False


cdef class DataTranslation:
    """The figures [dtlb1], [dtlb2], [vhpt] and l1d.prevalidated of ``config``; L1D's tags are ``cache``."""

    def __cinit__(self, config, L2 l2):
        self.l2 = l2
        self.tlb1 = Tlb(config, "dtlb1", min(config["dtlb1.page"], config["vhpt.page"]))
        self.tlb2 = Tlb(config, "dtlb2", config["vhpt.page"])
        self.pages1, self.pages2 = self.tlb1.tags, self.tlb2.tags
        self.table = PageTable()
        self.prevalidated = config["l1d.prevalidated"]
        self.lines = <uint64_t*>calloc(self.pages1.sets << self.pages1.way_shift, sizeof(uint64_t))
        if self.lines == NULL:
            raise MemoryError
        self.transfer_cycles = config["dtlb2.penalty"]
        self.walk_cycles = max(0, config["vhpt.walk"] - l2.latency)
        self.software_cycles = config["vhpt.software"]
        self.exception_cycles = config["pipeline.exception_flush"]
        self.page_shift = config["vhpt.page"].bit_length() - 1
        self.entry_shift = LONG_ENTRY_SHIFT if config["vhpt.format"] == "long" else SHORT_ENTRY_SHIFT
        self.physical = self.line_bits = ~<uint64_t>0

    def __dealloc__(self):
        free(self.lines)

    cdef void share_addresses(self, uint64_t thread_id) noexcept nogil:
        self.physical = ~thread_id

    cdef int64_t translate_tagged(self, EventLog* event_log, uint64_t address, int kind, bint walks, int64_t now,
                                  AccessResult* out) noexcept nogil:
        """Physical references have entries of the first level, too, as L1D's tags name one; they miss nothing. Of
        floating-point accesses the pages used last are kept for the fast path."""
        cdef bint first = is_float(kind) or lookup(self.tlb1, address)
        cdef bint translated = address & ALIAS_BITS != 0
        if not first and translated:
            record(event_log, Occurrence.L1DTLB_MISS, 1)
        if walks:
            now = self.follow_walk(event_log, &self.walks[self.walking], now, out)
        elif not first and translated:
            if reads_first_level(kind):
                record(event_log, Occurrence.L1DTLB_TRANSFER, 1)
                out.level = TlbLevel.TLB_L2
            now = stall_until(out, Cause.L1D_TLB, now, now + self.transfer_cycles)
        if address & NO_FRAME:
            return now
        if is_float(kind):
            if not lookup(self.tlb2, address):
                insert(self.tlb2, address)
        elif not first:
            self.insert_first(address)
        return now

    cdef int64_t follow_walk(self, EventLog* event_log, const Walk* walk, int64_t now, AccessResult* out) noexcept nogil:
        record(event_log, Occurrence.L2DTLB_MISS, 1)
        out.level = TlbLevel.TLB_WALKER if walk.outcome == WALK_INSERTED else TlbLevel.TLB_FAULT
        if walk.entry:
            record(event_log, Occurrence.HPW_READ, 1)
            now = stall_until(out, Cause.L1D_HPW, now,
                              self.l2.request(event_log, walk.entry & PHYSICAL_BITS, 8, REQUEST_WALK, 0, now)
                              + self.walk_cycles)
        if walk.outcome == WALK_INSERTED:
            record(event_log, Occurrence.DTLB_WALKED, 1)
        return now

    cdef void purge(self) noexcept nogil:
        cdef uint64_t entry
        for entry in range(self.pages1.sets << self.pages1.way_shift):
            if self.lines[entry]:
                self.drop_lines(entry)
            self.pages1.clear(entry)

    cdef void purge_pages(self, const Purge* purge) noexcept nogil:
        cdef uint64_t entry
        for entry in range(self.pages1.sets << self.pages1.way_shift):
            if entry_is_purged(self.pages, self.pages1, entry, purge):
                if self.lines[entry]:
                    self.drop_lines(entry)
                self.pages1.clear(entry)
        for entry in range(self.pages2.sets << self.pages2.way_shift):
            if entry_is_purged(self.pages, self.pages2, entry, purge):
                self.pages2.clear(entry)

    cdef int64_t translate(self, EventLog* event_log, uint64_t address, int kind, bint drops, int64_t now,
                           AccessResult* out) noexcept nogil:
        cdef bint first = is_float(kind) or lookup(self.tlb1, address)
        if first and not is_float(kind):
            return now           # an unmarked entry is also in the second level
        if not first:
            first = self.lacks_l2_entry(address)
            if not first:
                record(event_log, Occurrence.L1DTLB_MISS, 1)
        if not lookup(self.tlb2, address):
            record(event_log, Occurrence.L2DTLB_MISS, 1)
            now = self.walk(event_log, address, kind, drops, now, out)
            if now < 0:
                return now
        elif not first:
            if reads_first_level(kind):
                record(event_log, Occurrence.L1DTLB_TRANSFER, 1)
                out.level = TlbLevel.TLB_L2
            now = stall_until(out, Cause.L1D_TLB, now, now + self.transfer_cycles)
        if not first:
            self.insert_first(address)
        return now

    cdef int64_t find_no_page(self, EventLog* event_log, uint64_t address, int kind, int64_t now,
                              AccessResult* out) noexcept nogil:
        if not is_float(kind):
            record(event_log, Occurrence.L1DTLB_MISS, 1)
        record(event_log, Occurrence.L2DTLB_MISS, 1)
        now = self.read_entry(event_log, vhpt_entry(address, self.page_shift, self.entry_shift), now, out)
        if now < 0:
            now = -now
        return self.enter_kernel(event_log, kind, now, out)

    cdef int64_t enter_kernel(self, EventLog* event_log, int kind, int64_t now, AccessResult* out) noexcept nogil:
        record(event_log, Occurrence.LEVEL_CHANGED, ROUND_TRIP)
        if kind == ACCESS_SPILL or kind == ACCESS_FILL:
            return now           # no instruction waits for the register stack engine
        now = stall_until(out, Cause.XPN, now, now + self.exception_cycles)
        enter_level_0(&self.l2.user_clock, now, now + self.software_cycles)
        return stall_until(out, Cause.KERNEL, now, now + self.software_cycles)

    # Reads the VHPT entry through L2, if the TLB maps its address: returns the cycle; otherwise -now.
    cdef int64_t read_entry(self, EventLog* event_log, uint64_t vhpt_address, int64_t now,
                            AccessResult* out) noexcept nogil:
        cdef int64_t done
        if not lookup(self.tlb2, vhpt_address):
            return -now
        record(event_log, Occurrence.HPW_READ, 1)
        done = self.l2.request(event_log, vhpt_address | ~self.physical, 8, REQUEST_WALK, 0, now) + self.walk_cycles
        return stall_until(out, Cause.L1D_HPW, now, done)

    # Inserts a translation into the second level; without one in the VHPT the operating system inserts it there, unless
    # the access `drops` then (lfetch without .fault; SDM volume 3, lfetch): -1.
    cdef int64_t walk(self, EventLog* event_log, uint64_t address, int kind, bint drops, int64_t now,
                      AccessResult* out) noexcept nogil:
        cdef uint64_t page = (address & self.physical) >> self.page_shift
        cdef uint64_t vhpt_address = vhpt_entry(address, self.page_shift, self.entry_shift)
        cdef int64_t done = self.read_entry(event_log, vhpt_address, now, out)
        if done >= 0 and self.table.has_page(page):
            record(event_log, Occurrence.DTLB_WALKED, 1)
            out.level = TlbLevel.TLB_WALKER
            now = done
        elif drops:
            record(event_log, Occurrence.LFETCH_DROPPED, 1)
            return -1
        else:
            record(event_log, Occurrence.DTLB_FILLED, 1)
            out.level = TlbLevel.TLB_FAULT
            if done < 0:
                done = now
            now = self.enter_kernel(event_log, kind, done, out)
            if not self.table.has_page(page):
                self.table.add(page)
            self.insert_second(vhpt_address)
        self.insert_second(address)
        return now

    # Whether the first level has an entry whose page was evicted from the second; clears the mark.
    cdef bint lacks_l2_entry(self, uint64_t address) noexcept nogil:
        cdef int64_t entry = self.pages1.search(address >> self.pages1.shift | NO_L2_ENTRY)
        if entry == ABSENT:
            return 0
        self.pages1.numbers[entry] = address >> self.pages1.shift
        use(self.pages1, entry)
        return 1

    cdef void insert_first(self, uint64_t address) noexcept nogil:
        cdef int64_t entry = self.pages1.victim(address)
        if self.lines[entry]:
            self.drop_lines(entry)
        self.pages1.put(entry, address, 0, 0, 1)

    cdef void insert_second(self, uint64_t address) noexcept nogil:
        cdef int64_t entry
        cdef uint64_t evicted, i
        cdef uint32_t pieces = self.pages2.shift - self.pages1.shift
        if quick_find(self.pages2, address) != ABSENT:
            return
        entry = tlb_victim(self.tlb2, address)
        evicted = self.pages2.numbers[entry]
        if evicted != NO_NUMBER:
            for i in range(self.pages1.sets << self.pages1.way_shift):
                if self.pages1.numbers[i] >> pieces == evicted:
                    self.pages1.numbers[i] = self.pages1.numbers[i] | NO_L2_ENTRY
        self.pages2.put(entry, address, 0, 0, 1)

    # Evicts an entry of the first level, and the lines of its page in L1D.
    cdef void drop_lines(self, int64_t entry) noexcept nogil:
        cdef uint64_t base = (self.pages1.numbers[entry] & ~NO_L2_ENTRY) << self.pages1.shift
        cdef uint64_t mask = self.lines[entry], size = <uint64_t>1 << (self.pages1.shift - self.cache.shift), line
        cdef int64_t inner
        self.lines[entry] = 0
        while mask:
            line = trailing_zeros(mask)
            mask &= mask - 1
            while line < size:
                inner = quick_find(self.cache, base + (line << self.cache.shift) & self.line_bits)
                if inner != ABSENT:
                    self.cache.clear(inner)
                line += MASK_BITS
