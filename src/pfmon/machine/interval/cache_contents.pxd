"""Contents of caches and TLBs, without time: see cache_contents.pyx."""

cimport cython
from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t


cdef enum:
    SHORT_REGION_SHIFT = 32            # regions of 4 GB
    SHORT_REGIONS = 1 << 16            # that 48 bits of an address distinguish
    MAX_SHORT_REGIONS = 32             # that a program uses, less one

cpdef enum TranslationLevel:     # the TLB that had a translation
    FIRST_TLB = 0
    SECOND_TLB
    PAGE_WALK

cdef struct LineOutcome:         # of an access to a line
    uint8_t level                # CacheLevel that had it
    uint8_t translation          # TranslationLevel
    uint8_t references, misses   # of the last-level cache


@cython.final
cdef class CacheContents:
    cdef readonly RecencySets l1d, l1i, l2, l3, dtlb, itlb, tlb2
    cdef bint has_l3, has_tlb2, shared_tlb2, inclusive, adjacent
    cdef int32_t degree          # lines that a stream prefetches; 0: there are no streams
    cdef uint32_t stream_count, stream_mask      # mask: number less one if it is a power of two, else 0
    cdef LineStream streams[MAX_PREFETCH_STREAMS]        # lines and pages are those of short addresses
    cdef uint8_t region[SHORT_REGIONS]         # number of a region in short addresses; 0: it has none so far
    cdef uint64_t region_base[MAX_SHORT_REGIONS]
    cdef uint32_t region_count, max_regions
    cdef bint too_many_regions
    # By set: the most recent line of L1D, << 1, plus one if it is modified; the most recent page of the DTLB. All bits.
    cdef uint64_t* recent_line
    cdef uint64_t* recent_page
    cdef uint64_t recent_line_mask, recent_page_mask
    cdef uint64_t code_changes   # of the order of L1I or the ITLB, so far

    cdef uint64_t enter_region(self, uint64_t address) noexcept nogil
    cdef void miss_data(self, uint32_t* members, uint64_t address, bint writes, LineOutcome* outcome) noexcept nogil
    # Fetches the line of instructions at an address.
    cdef void use_code(self, uint64_t address, LineOutcome* outcome) noexcept nogil
    cdef uint8_t translate(self, const RecencyRows* first, uint32_t* members, uint64_t address,
                           bint second) noexcept nogil
    cdef void below(self, uint64_t address, bint demand, LineOutcome* outcome) noexcept nogil
    cdef void last_level(self, uint64_t address, bint demand, LineOutcome* outcome) noexcept nogil
    cdef void put_l1d(self, uint32_t* members, uint64_t address, bint modified) noexcept nogil
    cdef void put_l2(self, uint64_t address, bint modified) noexcept nogil
    cdef void put_l3(self, uint64_t address, bint modified) noexcept nogil
    cdef void drop_above(self, uint64_t address, uint32_t shift) noexcept nogil
    cdef bint keep_modified(self, const RecencyRows* rows, uint64_t address) noexcept nogil
    cdef void drop_last_level(self, uint64_t address) noexcept nogil
    cdef uint8_t bypass_data(self, uint64_t address) noexcept nogil
    cdef void follow_stream(self, uint64_t address) noexcept nogil
    cdef void prefetch(self, uint64_t address) noexcept nogil


cdef inline uint64_t short_address(CacheContents self, uint64_t address) noexcept nogil:
    """An address with the number of its region instead of the bits from SHORT_REGION_SHIFT on."""
    cdef uint64_t region = self.region[address >> SHORT_REGION_SHIFT & (SHORT_REGIONS - 1)]
    if region == 0:
        region = self.enter_region(address)
    return region << SHORT_REGION_SHIFT | <uint32_t>address


cdef inline bint is_known(CacheContents self, uint64_t address) noexcept nogil:
    """Whether the program has used the region of an address: a prefetch may have any address."""
    return self.region[address >> SHORT_REGION_SHIFT & (SHORT_REGIONS - 1)] != 0


cdef inline uint64_t long_address(CacheContents self, uint64_t short_address) noexcept nogil:
    return self.region_base[short_address >> SHORT_REGION_SHIFT] | <uint32_t>short_address


cdef inline uint32_t* members_of(CacheContents self, const RecencyRows* rows, uint64_t address) noexcept nogil:
    """The members of the set of a short address."""
    if rows.divisor:
        return rows.members + (long_address(self, address) >> rows.shift) % rows.divisor * rows.stride
    return rows.members + (address >> rows.shift & rows.mask) * rows.stride


cdef inline void note_recent(CacheContents self, uint64_t address, const uint32_t* members) noexcept nogil:
    """Notes the most recent line of a set of L1D, that of an address."""
    cdef uint64_t line = <uint64_t>(members[0] >> 1) << self.l1d.rows.shift
    if self.l1d.rows.divisor == 0:
        self.recent_line[address >> self.l1d.rows.shift & self.recent_line_mask] = \
            long_address(self, line) >> self.l1d.rows.shift << 1 | members[0] & 1


cdef inline void use_data(CacheContents self, uint64_t address, bint writes, LineOutcome* outcome) noexcept nogil:
    """Accesses the line of data at an address; ``writes``: it becomes modified."""
    cdef const RecencyRows* rows = &self.l1d.rows
    cdef uint64_t short = short_address(self, address), page = address >> PAGE_SHIFT
    cdef uint32_t line = <uint32_t>(short >> rows.shift)
    cdef uint32_t* members = members_of(self, rows, short)
    outcome.references = outcome.misses = 0
    outcome.level, outcome.translation = LEVEL_L1, FIRST_TLB
    if self.recent_page[page & self.recent_page_mask] != page:
        outcome.translation = self.translate(&self.dtlb.rows, members_of(self, &self.dtlb.rows, short), short, True)
        self.recent_page[page & self.recent_page_mask] = page
    if use_member(rows, members, line):
        members[0] |= writes
    else:
        self.miss_data(members, short, writes, outcome)
    if rows.divisor == 0:
        self.recent_line[address >> rows.shift & self.recent_line_mask] = address >> rows.shift << 1 | members[0] & 1
