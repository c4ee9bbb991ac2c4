"""Counting a traced stream, and how many of its memory accesses fall into data ranges.

A range is what one breakpoint pair matches: the address equals the pair's where the mask has ones (SDM volume 2,
7.1). Several pairs add up. The count is kept per access of a block, so that every event can be qualified afterwards.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from pfmon.stream.shapes cimport Access, Shape, ShapeTable, places, popcount
from pfmon.stream.stream cimport (
    BLOCK_MASK, INDEX_SHIFT, MARK_ALAT_MISS, MARK_FILL, MARK_MISALIGNED_LOAD, MARK_MISALIGNED_STORE, MARK_RSE_ADDRESS,
    MARK_SHIFT, MARK_SPILL, unpacked_address)
from pfmon.stream.tally cimport BlockTally, Site, Tally, add_conditions, add_repeated, count_mark

cdef enum:
    PAIRS = 4
    ALWAYS = 255
    COLLECTION = 0x1F8                   # address bits 8:3 of a word of the backing store that holds NaT bits


cdef struct Ranges:                      # an address is inside when its bits under a mask are one of the addresses
    uint64_t mask[PAIRS]                 # unused ones: 0, with an address that nothing equals
    uint64_t address[PAIRS]
    uint64_t common_mask                 # bits that all ranges look at and have the same
    uint64_t common_address
    bint several                         # ranges, which differ in other bits


cdef inline uint64_t within(const Ranges* ranges, uint64_t address) noexcept nogil:
    """1 for an address in one of the ranges; no branch depends on the address."""
    cdef uint64_t inside = address & ranges.common_mask == ranges.common_address
    if ranges.several:
        inside &= (
            (address & ranges.mask[0] == ranges.address[0]) | (address & ranges.mask[1] == ranges.address[1])
            | (address & ranges.mask[2] == ranges.address[2]) | (address & ranges.mask[3] == ranges.address[3])
        )
    return inside


cdef inline uint64_t among(const Ranges* ranges, const uint64_t* address, uint64_t stride, uint64_t count) noexcept nogil:
    """How many of so many addresses, each ``stride`` words behind the one before, are in the ranges."""
    cdef uint64_t i, inside = 0
    for i in range(count):
        inside += within(ranges, address[i * stride])
    return inside


cdef inline uint64_t repetitions(const uint64_t* words, uint64_t count, uint64_t width) noexcept nogil:
    """How often the block whose word is the first one runs in a row, with so many addresses each time."""
    cdef uint64_t i = width + 1, runs = 1
    while i < count and words[i] == words[0]:
        i += width + 1
        runs += 1
    return runs


cdef class DataTally(Tally):
    """A Tally of a traced stream that knows data ranges: up to four (address, mask) pairs; none: nothing is inside."""

    cdef Ranges ranges
    cdef uint64_t* counts                # by number of access (Shapes.accesses)
    cdef uint64_t count_capacity

    def __cinit__(self, ShapeTable shapes, ranges):
        if len(ranges) > PAIRS:
            raise ValueError(f"{len(ranges)} data ranges: there are {PAIRS} pairs of data breakpoint registers")
        self.ranges.common_mask = ~<uint64_t>0 if ranges else 0
        self.ranges.common_address = 1
        self.ranges.several = len(ranges) > 1
        for number in range(PAIRS):
            self.ranges.address[number] = 1
        for number, (address, mask) in enumerate(ranges):
            self.ranges.address[number] = address & mask
            self.ranges.mask[number] = mask
            self.ranges.common_mask &= mask & ~<uint64_t>(address ^ ranges[0][0])
        if ranges:
            self.ranges.common_address = ranges[0][0] & self.ranges.common_mask
        self.traced = True

    def __dealloc__(self):
        free(self.counts)

    cdef int grow_counts(self) noexcept nogil:
        """Room for every access that has a number; 0 when there is no memory."""
        cdef uint64_t capacity = self.shapes.c.access_count * 2
        cdef uint64_t* fresh = <uint64_t*>realloc(self.counts, capacity * sizeof(uint64_t))
        if fresh == NULL:
            return 0
        memset(fresh + self.count_capacity, 0, (capacity - self.count_capacity) * sizeof(uint64_t))
        self.counts = fresh
        self.count_capacity = capacity
        return 1

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, k, word, last = self.last, block_word = 0, runs, width
        cdef const uint64_t* accessed = NULL
        cdef uint64_t* at
        cdef const Shape* shapes = self.shapes.c.shapes
        cdef const Shape* shape
        cdef Ranges ranges = self.ranges     # a copy, that the compiler may keep in registers
        cdef BlockTally* block
        if self.shapes.c.count > self.capacity and not self.grow():
            return
        if self.shapes.c.access_count > self.count_capacity and not self.grow_counts():
            return
        while i < count:
            word = words[i]
            i += 1
            if word >> 63:
                self.take_mark(words + i - 1, last, block_word, accessed)
                continue
            last = word & BLOCK_MASK
            block_word = word
            shape = &shapes[last]
            block = &self.blocks[last]
            block.runs += 1
            if word >> 32:
                add_conditions(block, <uint32_t>(word >> 32))
            accessed = words + i
            at = self.counts + shape.first_access
            # Where the next word is depends on the shape. A branch for each of the usual numbers of accesses lets the
            # host's processor go on there before it has the shape.
            if shape.access_mask:
                i += self.add_conditional(shape, word, accessed)
            elif shape.accesses == 1:
                at[0] += within(&ranges, accessed[0])
                i += 1
            elif shape.accesses == 2:
                at[0] += within(&ranges, accessed[0])
                at[1] += within(&ranges, accessed[1])
                i += 2
            elif shape.accesses == 3:
                at[0] += within(&ranges, accessed[0])
                at[1] += within(&ranges, accessed[1])
                at[2] += within(&ranges, accessed[2])
                i += 3
            elif shape.accesses:
                for k in range(shape.accesses):
                    at[k] += within(&ranges, accessed[k])
                i += shape.accesses
            if i < count and words[i] == word:
                width = words + i - accessed
                runs = self.add_runs(shape, words + i, count - i, width)
                i += runs * (width + 1)
                accessed += runs * (width + 1)
        self.last = last

    cdef uint64_t add_conditional(self, const Shape* shape, uint64_t word, const uint64_t* accessed) noexcept nogil:
        """Count which of the accesses in one run of a block were in the ranges; how many there were."""
        cdef uint64_t* counts = self.counts + shape.first_access
        cdef const Access* access = self.shapes.c.accesses + shape.first_access
        cdef uint64_t place, k = 0
        for place in range(places(shape)):
            if access[place].condition == ALWAYS or (word >> (32 + access[place].condition)) & 1:
                counts[place] += within(&self.ranges, accessed[k])
                k += 1
        return k

    cdef uint64_t add_runs(self, const Shape* shape, const uint64_t* words, uint64_t count,
                           uint64_t width) noexcept nogil:
        """Count the runs in a row of the block whose word is the first one, with ``width`` accesses each; how many there
        are."""
        cdef uint64_t word = words[0], runs = repetitions(words, count, width), k, place = 0
        cdef BlockTally* block = &self.blocks[word & BLOCK_MASK]
        cdef uint64_t* counts = self.counts + shape.first_access
        cdef const Access* access = self.shapes.c.accesses + shape.first_access
        block.runs += runs
        if word >> 32:
            add_repeated(block, <uint32_t>(word >> 32), runs)
        for k in range(width):
            while access[place].condition != ALWAYS and not (word >> (32 + access[place].condition)) & 1:
                place += 1
            counts[place] += among(&self.ranges, words + 1 + k, width + 1, runs)
            place += 1
        return runs

    cdef void take_mark(self, const uint64_t* mark, uint64_t last, uint64_t block_word,
                        const uint64_t* accessed) noexcept nogil:
        """Count a mark; ``accessed`` are the addresses of the block before it, NULL if that came in an earlier buffer
        (the engine writes the marks of a block right behind it; later ones have no address)."""
        cdef uint64_t kind = mark[0] >> MARK_SHIFT & 0x7F
        cdef uint64_t traffic
        cdef Site* site = self.add_mark(mark[0], last)
        if site == NULL:
            return
        if kind == MARK_SPILL or kind == MARK_FILL:
            if mark[1] >> MARK_SHIFT == (<uint64_t>0x80 | MARK_RSE_ADDRESS):
                traffic = self.registers_within(unpacked_address(mark[1]), mark[0] & 0xFFFF)
                if traffic:
                    count_mark(&site.inside, traffic)
        elif kind == MARK_MISALIGNED_LOAD or kind == MARK_MISALIGNED_STORE or kind == MARK_ALAT_MISS:
            if accessed != NULL and self.accessed_within(mark[0] >> INDEX_SHIFT & 0xFF, last, block_word, accessed):
                count_mark(&site.inside, mark[0])

    cdef uint64_t registers_within(self, uint64_t address, uint64_t registers) noexcept nogil:
        """How many of so many registers in the backing store, the lowest at ``address``, are in the ranges."""
        cdef uint64_t found = 0
        while registers:
            if address & COLLECTION != COLLECTION:
                found += within(&self.ranges, address)
                registers -= 1
            address += 8
        return found

    cdef bint accessed_within(self, uint64_t instruction, uint64_t block, uint64_t block_word,
                              const uint64_t* accessed) noexcept nogil:
        """Whether the access that an instruction made in the last run of a block was in the ranges; one that made none
        (chk.a) was not."""
        cdef Shape* shape = &self.shapes.c.shapes[block]
        cdef Access* access = self.shapes.c.accesses + shape.first_access
        cdef uint64_t k, done = 0
        for k in range(places(shape)):
            if access[k].condition == ALWAYS or (block_word >> (32 + access[k].condition)) & 1:
                if access[k].instruction == instruction:
                    return within(&self.ranges, accessed[done]) != 0
                done += 1
        return False

    def inside(self, uint64_t number) -> dict[int, int]:
        """How often the accesses of block ``number`` were in the ranges, by number of the instruction."""
        cdef Shape* shape
        cdef uint64_t k
        if number >= self.shapes.c.count:
            return {}
        shape = &self.shapes.c.shapes[number]
        return {
            self.shapes.c.accesses[k].instruction: self.counts[k]
            for k in range(shape.first_access, shape.first_access + places(shape))
            if k < self.count_capacity
        }
