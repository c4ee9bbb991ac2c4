"""What the caches and TLBs of an out-of-order core hold: updated in program order, so that misses do not depend on
time.

L1I, L1D, a unified L2, optionally an L3, and TLBs of one or two levels. Caches are write-back and write-allocate; a
write-back that hits below makes the line modified there. L2 need not contain L1's lines; the last level contains those
of all others if it is inclusive, and its evictions invalidate them. Prefetchers work on misses of L1
(cache_hierarchy.pyx).

Lines are numbers of short addresses: the regions of 4 GB that a program uses are numbered as they come, so that 31 bits
are enough. A program that uses more than there are numbers for makes the counts fail.
"""

cimport cython
from libc.stdlib cimport calloc, free


@cython.final
cdef class CacheContents:
    """``config``: the figures of the caches, TLBs and prefetchers."""

    def __cinit__(self, config):
        self.l1d, self.l1i, self.l2 = (recency_cache(config, name) for name in ("l1d", "l1i", "l2"))
        self.has_l3, self.has_tlb2 = "l3.size" in config, "tlb2.entries" in config
        self.l3 = recency_cache(config, "l3") if self.has_l3 else None
        self.dtlb, self.itlb = recency_tlb(config, "dtlb1"), recency_tlb(config, "itlb1")
        self.tlb2 = recency_tlb(config, "tlb2") if self.has_tlb2 else None
        self.shared_tlb2 = self.has_tlb2 and config["tlb2.instructions"]
        self.inclusive, self.adjacent = config["memory.inclusive"], config["prefetch.adjacent"]
        self.degree, self.stream_count = config["prefetch.degree"], config["prefetch.streams"]
        self.stream_mask = 0 if self.stream_count & (self.stream_count - 1) else self.stream_count - 1
        self.max_regions = min(MAX_SHORT_REGIONS, 1 << (min(self.l1d.rows.shift, self.l1i.rows.shift) - 1))
        self.recent_line_mask, self.recent_page_mask = self.l1d.rows.mask, self.dtlb.rows.mask
        self.recent_line = <uint64_t*>calloc(self.l1d.sets, sizeof(uint64_t))
        self.recent_page = <uint64_t*>calloc(self.dtlb.sets, sizeof(uint64_t))
        if self.recent_line == NULL or self.recent_page == NULL:
            raise MemoryError
        if self.l1d.rows.divisor:                # the set is no function of some bits: none is known
            self.recent_line_mask = 0

    def __dealloc__(self):
        free(self.recent_line)
        free(self.recent_page)

    # --- addresses

    cdef uint64_t enter_region(self, uint64_t address) noexcept nogil:
        """Gives a region a number."""
        if self.region_count + 1 >= self.max_regions:
            self.too_many_regions = True
            return 1
        self.region_count += 1
        self.region[address >> SHORT_REGION_SHIFT & (SHORT_REGIONS - 1)] = <uint8_t>self.region_count
        self.region_base[self.region_count] = address >> SHORT_REGION_SHIFT << SHORT_REGION_SHIFT
        return self.region_count

    # --- requests of the core; addresses are short ones

    cdef void miss_data(self, uint32_t* members, uint64_t address, bint writes, LineOutcome* outcome) noexcept nogil:
        """Requests a line of data that its set of L1D does not have."""
        self.below(address, True, outcome)
        self.put_l1d(members, address, writes)
        if self.degree:
            self.follow_stream(address)

    cdef uint8_t bypass_data(self, uint64_t address) noexcept nogil:
        """Accesses a line of data in no cache, from where it is removed (Intel SDM volume 1, 10.4.6.2); returns the
        level of its translation."""
        cdef uint64_t page = address >> PAGE_SHIFT, short = short_address(self, address)
        cdef uint8_t translation = FIRST_TLB
        if self.recent_page[page & self.recent_page_mask] != page:
            translation = self.translate(&self.dtlb.rows, members_of(self, &self.dtlb.rows, short), short, True)
            self.recent_page[page & self.recent_page_mask] = page
        self.drop_above(short >> self.l1d.rows.shift << self.l1d.rows.shift, self.l1d.rows.shift)
        self.drop_last_level(short)
        return translation

    cdef void drop_last_level(self, uint64_t address) noexcept nogil:
        """Invalidates the last level's line of an address."""
        if self.has_l3:
            self.l3.remove(members_of(self, &self.l3.rows, address), <uint32_t>(address >> self.l3.rows.shift))
        else:
            self.l2.remove(members_of(self, &self.l2.rows, address), <uint32_t>(address >> self.l2.rows.shift))

    cdef void use_code(self, uint64_t address, LineOutcome* outcome) noexcept nogil:
        cdef const RecencyRows* rows = &self.l1i.rows
        cdef uint32_t* members = members_of(self, rows, address)
        cdef uint32_t* pages = members_of(self, &self.itlb.rows, address)
        cdef uint32_t line = <uint32_t>(address >> rows.shift)
        outcome.references = outcome.misses = 0
        outcome.level, outcome.translation = LEVEL_L1, FIRST_TLB
        if members[0] == line << 1 and pages[0] == <uint32_t>(address >> PAGE_SHIFT) << 1:
            return
        self.code_changes += 1
        if pages[0] != <uint32_t>(address >> PAGE_SHIFT) << 1:
            outcome.translation = self.translate(&self.itlb.rows, pages, address, self.shared_tlb2)
        if not use_member(rows, members, line):
            self.below(address, True, outcome)
            insert_member(rows, members, line, False)

    cdef uint8_t translate(self, const RecencyRows* first, uint32_t* members, uint64_t address,
                           bint second) noexcept nogil:
        """Translates an address; ``members``: its set in the first level; ``second``: the second level may have it."""
        cdef uint32_t page = <uint32_t>(address >> PAGE_SHIFT)
        if use_member(first, members, page):
            return FIRST_TLB
        insert_member(first, members, page, False)
        if second and self.has_tlb2:
            members = members_of(self, &self.tlb2.rows, address)
            if use_member(&self.tlb2.rows, members, page):
                return SECOND_TLB
            insert_member(&self.tlb2.rows, members, page, False)
        return PAGE_WALK

    # --- L2 and below

    cdef void below(self, uint64_t address, bint demand, LineOutcome* outcome) noexcept nogil:
        """Requests a line that missed L1; fills it into L2."""
        cdef const RecencyRows* rows = &self.l2.rows
        if not self.has_l3:
            outcome.references += demand
        if use_member(rows, members_of(self, rows, address), <uint32_t>(address >> rows.shift)):
            outcome.level = LEVEL_L2
            return
        if self.has_l3:
            self.last_level(address, demand, outcome)
        else:
            outcome.misses += demand
            outcome.level = LEVEL_MEMORY
        self.put_l2(address, False)
        if demand and self.adjacent:
            self.prefetch(address ^ <uint64_t>1 << rows.shift)

    cdef void last_level(self, uint64_t address, bint demand, LineOutcome* outcome) noexcept nogil:
        """Requests a line that missed L1 and L2."""
        cdef const RecencyRows* rows = &self.l3.rows
        outcome.references += demand
        outcome.level = LEVEL_L3
        if not use_member(rows, members_of(self, rows, address), <uint32_t>(address >> rows.shift)):
            outcome.misses += demand
            outcome.level = LEVEL_MEMORY
            self.put_l3(address, False)

    # --- fills: a modified victim goes to the next level

    cdef void put_l1d(self, uint32_t* members, uint64_t address, bint modified) noexcept nogil:
        cdef const RecencyRows* rows = &self.l1d.rows
        cdef uint32_t evicted = insert_member(rows, members, <uint32_t>(address >> rows.shift), modified)
        if evicted & 1:
            address = <uint64_t>(evicted >> 1) << rows.shift
            if not self.keep_modified(&self.l2.rows, address):
                self.put_l2(address, True)

    cdef void put_l2(self, uint64_t address, bint modified) noexcept nogil:
        cdef const RecencyRows* rows = &self.l2.rows
        cdef uint32_t evicted = insert_member(rows, members_of(self, rows, address), <uint32_t>(address >> rows.shift),
                                              modified)
        if evicted == 0:
            return
        address = <uint64_t>(evicted >> 1) << rows.shift
        if not self.has_l3:
            if self.inclusive:
                self.drop_above(address, rows.shift)
        elif evicted & 1 and not self.keep_modified(&self.l3.rows, address):
            self.put_l3(address, True)

    cdef void put_l3(self, uint64_t address, bint modified) noexcept nogil:
        cdef const RecencyRows* rows = &self.l3.rows
        cdef uint32_t evicted = insert_member(rows, members_of(self, rows, address), <uint32_t>(address >> rows.shift),
                                              modified)
        if evicted and self.inclusive:
            self.drop_above(<uint64_t>(evicted >> 1) << rows.shift, rows.shift)

    cdef bint keep_modified(self, const RecencyRows* rows, uint64_t address) noexcept nogil:
        """Writes a modified line back from the level above, without effect on recency; False: it is not there."""
        cdef uint32_t* members = members_of(self, rows, address)
        cdef uint32_t place = place_in_set(members, rows.stride, <uint32_t>(address >> rows.shift))
        if place == rows.stride:
            return False
        members[place] |= 1
        return True

    cdef void drop_above(self, uint64_t address, uint32_t shift) noexcept nogil:
        """Invalidates the bytes of a line (1 << shift) in all caches above the last one."""
        cdef uint64_t end = address + (<uint64_t>1 << shift), one = address
        cdef uint32_t* members
        while one < end:
            members = members_of(self, &self.l1d.rows, one)
            self.l1d.remove(members, <uint32_t>(one >> self.l1d.rows.shift))
            note_recent(self, one, members)
            one += <uint64_t>1 << self.l1d.rows.shift
        one = address
        while one < end:
            members = members_of(self, &self.l1i.rows, one)
            if place_in_set(members, self.l1i.rows.stride, <uint32_t>(one >> self.l1i.rows.shift)) \
                    < self.l1i.rows.stride:
                self.code_changes += 1
                self.l1i.remove(members, <uint32_t>(one >> self.l1i.rows.shift))
            one += <uint64_t>1 << self.l1i.rows.shift
        one = address
        while self.has_l3 and one < end:
            self.l2.remove(members_of(self, &self.l2.rows, one), <uint32_t>(one >> self.l2.rows.shift))
            one += <uint64_t>1 << self.l2.rows.shift

    # --- prefetchers

    cdef void follow_stream(self, uint64_t address) noexcept nogil:
        """Handles a miss of L1D: prefetches the next lines of its stream, within the page."""
        cdef uint32_t shift = self.l1d.rows.shift
        cdef uint64_t page = address >> PAGE_SHIFT, line = address >> shift, ahead
        cdef uint64_t real = long_address(self, address) >> PAGE_SHIFT
        cdef LineStream* stream = &self.streams[real & self.stream_mask if self.stream_mask
                                                else real % self.stream_count]
        cdef int32_t step = follow_line(stream, page, line), k
        if step == 0:
            return
        for k in range(1, self.degree + 1):
            ahead = (line + <uint64_t><int64_t>(k * step)) << shift
            if ahead >> PAGE_SHIFT == page:
                self.prefetch(ahead)

    cdef void prefetch(self, uint64_t address) noexcept nogil:
        """Fills a line into L2, and into the last level; a hit in L2 does not change its recency."""
        cdef const RecencyRows* rows = &self.l2.rows
        cdef LineOutcome outcome
        if place_in_set(members_of(self, rows, address), rows.stride, <uint32_t>(address >> rows.shift)) == rows.stride:
            outcome.references = outcome.misses = 0
            self.below(address, False, &outcome)
