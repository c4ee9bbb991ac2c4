"""Totals of a traced stream, with its memory accesses in data ranges.

A range is the match of one breakpoint pair: the address equals the pair's where the mask has ones (SDM volume 2, 7.1).
Several pairs add up. The count is kept per access of a block, so that every event can be qualified afterwards.
"""

cimport cython
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from pfmon.stream._stream cimport (
    BANKS, BANK_SHIFT, BLOCK_MASK, BlockAccess, BlockHead, BlockTable, Failure, INDEX_SHIFT, MARK_SHIFT, Mark, PathTable,
    executed, first_access_of_bank, is_second, max_accesses, unpacked_address)

cdef enum:
    PAIRS = 4


cdef struct MatchRanges:                 # an address is inside when its bits under a mask equal one of the addresses
    uint64_t mask[PAIRS]                 # unused ones: 0, with an address that never matches
    uint64_t address[PAIRS]
    uint64_t common_mask                 # bits that all ranges compare and have in common
    uint64_t common_address
    bint several                         # ranges, which differ in other bits


cdef inline uint64_t within(const MatchRanges* ranges, uint64_t address) noexcept nogil:
    """Returns 1 for an address in one of the ranges; no branch depends on the address."""
    cdef uint64_t inside = address & ranges.common_mask == ranges.common_address
    if ranges.several:
        inside &= (
            (address & ranges.mask[0] == ranges.address[0]) | (address & ranges.mask[1] == ranges.address[1])
            | (address & ranges.mask[2] == ranges.address[2]) | (address & ranges.mask[3] == ranges.address[3])
        )
    return inside


cdef inline uint64_t matching(const MatchRanges* ranges, const uint64_t* address, uint64_t stride,
                           uint64_t count) noexcept nogil:
    """Counts addresses in the ranges, each ``stride`` words after the one before."""
    cdef uint64_t i, inside = 0
    for i in range(count):
        inside += within(ranges, address[i * stride])
    return inside


cdef inline uint64_t repetitions(const uint64_t* words, uint64_t count, uint64_t width) noexcept nogil:
    """Returns how often the block of the first word runs in a row, with so many addresses each time."""
    cdef uint64_t i = width + 1, runs = 1
    while i < count and words[i] == words[0]:
        i += width + 1
        runs += 1
    return runs


@cython.final
cdef class DataRangeTally(Tally):
    """A Tally of a traced stream with data ranges: up to four (address, mask) pairs; without any, nothing is inside."""

    cdef MatchRanges ranges
    cdef uint64_t* counts[BANKS]         # by number of access in its bank
    cdef uint64_t count_capacity[BANKS]

    def __cinit__(self, BlockTable table, ranges):
        self.set_ranges(ranges)
        self.traced = True

    def set_ranges(self, ranges):
        """Sets the data ranges: (address, mask) each. ValueError: more than there are registers for."""
        if len(ranges) > PAIRS:
            raise ValueError(f"{len(ranges)} data ranges: there are {PAIRS} pairs of data breakpoint registers")
        self.ranges.common_mask = ~<uint64_t>0 if ranges else 0
        self.ranges.common_address = 1
        self.ranges.several = len(ranges) > 1
        for number in range(PAIRS):
            self.ranges.address[number], self.ranges.mask[number] = 1, 0
        for number, (address, mask) in enumerate(ranges):
            self.ranges.address[number] = address & mask
            self.ranges.mask[number] = mask
            self.ranges.common_mask &= mask & ~<uint64_t>(address ^ ranges[0][0])
        if ranges:
            self.ranges.common_address = ranges[0][0] & self.ranges.common_mask

    def __dealloc__(self):
        cdef uint32_t bank
        for bank in range(BANKS):
            free(self.counts[bank])

    cdef bint room(self) noexcept nogil:
        """Reserves room for every entered block and its accesses."""
        cdef uint32_t bank
        for bank in range(BANKS):
            if self.table.c.header.bank[bank].accesses > self.count_capacity[bank] and not self.grow_counts(bank):
                self.fail(Failure.OUT_OF_MEMORY)
                return False
        return Tally.room(self)

    cdef bint take_paths(self, PathTable paths) noexcept:
        return False

    cdef bint grow_counts(self, uint32_t bank) noexcept nogil:
        cdef uint64_t capacity = self.table.c.header.bank[bank].accesses * 2
        cdef uint64_t* fresh = <uint64_t*>realloc(self.counts[bank], capacity * sizeof(uint64_t))
        if fresh == NULL:
            return False
        memset(fresh + self.count_capacity[bank], 0, (capacity - self.count_capacity[bank]) * sizeof(uint64_t))
        self.counts[bank] = fresh
        self.count_capacity[bank] = capacity
        return True

    cdef uint64_t* counts_of(self, uint64_t number) noexcept nogil:
        """Returns the counts of a block's accesses, in order."""
        cdef uint32_t bank = <uint32_t>(number >> BANK_SHIFT)
        return self.counts[bank] + (self.table.c.heads[number].first_access - first_access_of_bank(&self.table.c, bank))

    cdef uint64_t inside_of(self, uint64_t number, uint64_t access) noexcept nogil:
        """Returns how often an access of a block was in the data ranges."""
        return self.counts_of(number)[access]

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, k, word, last = self.last, block_word = 0, runs, width
        cdef const uint64_t* accessed = NULL
        cdef uint64_t* at
        cdef const BlockHead* heads = self.table.c.heads
        cdef const BlockHead* head
        cdef MatchRanges ranges = self.ranges  # a local copy that the compiler may keep in registers
        cdef BlockTally* block
        if not self.room():
            return
        while i < count:
            word = words[i]
            i += 1
            if word >> 63:
                self.count_mark_in_ranges(words + i - 1, last, block_word, accessed)
                continue
            last = word & BLOCK_MASK
            block_word = word
            head = &heads[last]
            block = tally_of(self, last)
            block.runs += 1
            if word >> 32:
                add_conditions(self, block, last, <uint32_t>(word >> 32))
            accessed = words + i
            at = self.counts_of(last)
            # The position of the next word depends on the head. A branch for each of the usual numbers of accesses lets
            # the host's processor speculate past it.
            if head.access_mask:
                i += self.add_conditional(last, word, accessed)
            elif head.accesses == 1:
                at[0] += within(&ranges, accessed[0])
                i += 1
            elif head.accesses == 2:
                at[0] += within(&ranges, accessed[0])
                at[1] += within(&ranges, accessed[1])
                i += 2
            elif head.accesses == 3:
                at[0] += within(&ranges, accessed[0])
                at[1] += within(&ranges, accessed[1])
                at[2] += within(&ranges, accessed[2])
                i += 3
            elif head.accesses:
                for k in range(head.accesses):
                    at[k] += within(&ranges, accessed[k])
                i += head.accesses
            if i < count and words[i] == word:
                width = words + i - accessed
                runs = self.add_runs(last, words + i, count - i, width)
                i += runs * (width + 1)
                accessed += runs * (width + 1)
        self.last = last

    cdef uint64_t add_conditional(self, uint64_t number, uint64_t word, const uint64_t* accessed) noexcept nogil:
        """Counts the accesses of one run of a block in the ranges; returns the number of accesses."""
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef uint64_t* counts = self.counts_of(number)
        cdef const BlockAccess* access = self.table.c.accesses + head.first_access
        cdef uint64_t place, k = 0
        for place in range(max_accesses(head)):
            if executed(word, access[place].condition):
                counts[place] += within(&self.ranges, accessed[k])
                k += 1
        return k

    cdef uint64_t add_runs(self, uint64_t number, const uint64_t* words, uint64_t count,
                           uint64_t width) noexcept nogil:
        """Counts consecutive runs of the first word's block, with ``width`` accesses each; returns their number."""
        cdef uint64_t word = words[0], runs = repetitions(words, count, width), k, place = 0
        cdef BlockTally* block = tally_of(self, number)
        cdef uint64_t* counts = self.counts_of(number)
        cdef const BlockAccess* access = self.table.c.accesses + self.table.c.heads[number].first_access
        block.runs += runs
        if word >> 32:
            self.add_repeated(number, <uint32_t>(word >> 32), runs)
        for k in range(width):
            while not executed(word, access[place].condition):
                place += 1
            counts[place] += matching(&self.ranges, words + 1 + k, width + 1, runs)
            place += 1
        return runs

    cdef void count_mark_in_ranges(self, const uint64_t* mark, uint64_t last, uint64_t block_word,
                        const uint64_t* accessed) noexcept nogil:
        """Counts a mark; ``accessed``: addresses of the block before it, NULL if that came in an earlier buffer (the
        engine writes the marks of a block right after it; later ones have no address)."""
        cdef uint64_t kind = mark[0] >> MARK_SHIFT & 0x7F
        cdef uint64_t traffic
        cdef TallySite* site = self.add_mark(mark[0], last)
        if site == NULL:
            return
        if kind == Mark.SPILL or kind == Mark.FILL:
            if mark[1] >> MARK_SHIFT == (<uint64_t>0x80 | Mark.RSE_ADDRESS):
                traffic = self.registers_within(unpacked_address(mark[1]), mark[0] & 0xFFFF)
                if traffic:
                    count_mark(&site.inside, traffic)
        elif kind == Mark.MISALIGNED_LOAD or kind == Mark.MISALIGNED_STORE or kind == Mark.ALAT_MISS:
            if accessed != NULL and self.accessed_within(mark[0] >> INDEX_SHIFT & 0xFF, last, block_word, accessed):
                count_mark(&site.inside, mark[0])

    cdef uint64_t registers_within(self, uint64_t address, uint64_t registers) noexcept nogil:
        """Returns how many of so many registers in the backing store, the lowest at ``address``, are in the ranges."""
        cdef uint64_t found = 0
        while registers:
            if address & COLLECTION != COLLECTION:
                found += within(&self.ranges, address)
                registers -= 1
            address += 8
        return found

    cdef bint accessed_within(self, uint64_t instruction, uint64_t block, uint64_t block_word,
                              const uint64_t* accessed) noexcept nogil:
        """Whether the access of an instruction in the last run of a block was in the ranges; False without an access
        (chk.a)."""
        cdef const BlockHead* head = &self.table.c.heads[block]
        cdef const BlockAccess* access = self.table.c.accesses + head.first_access
        cdef uint64_t k, done = 0
        for k in range(max_accesses(head)):
            if executed(block_word, access[k].condition):
                if access[k].instruction == instruction:
                    return within(&self.ranges, accessed[done]) != 0
                done += 1
        return False

    def inside(self, uint64_t number) -> dict[int, int]:
        """Accesses of block ``number`` in the ranges, by number of the instruction."""
        cdef const BlockHead* head = &self.table.c.heads[number]
        cdef uint64_t k
        if not self.room():
            raise MemoryError
        return {
            self.table.c.accesses[head.first_access + k].instruction: self.inside_of(number, k)
            for k in range(max_accesses(head))
            if not is_second(self.table.c.accesses + head.first_access, k)
        }
