"""Counting the stream: how often each block ran, and how often each of its conditional instructions executed.

A block's conditions are counted by bit slices: plane k holds bit k of the counters of all 31 conditions, so that one
run costs a carry chain of about two words however many conditions held.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from pfmon.retirement.shapes cimport Consumer, Shape, Shapes, ShapeTable
from pfmon.retirement.stream cimport BLOCK_MASK, MARK_KINDS, MARK_SHIFT

from pfmon.retirement.marks import MarkTotals

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long) nogil

cdef enum:
    PLANES = 10
    CONDITIONS = 31
    SMALL_VALUES = 4

cdef struct BlockTally:
    uint64_t runs
    uint32_t planes[PLANES]
    uint64_t executed[CONDITIONS]        # multiples of 2**PLANES that have left the planes

cdef struct MarkTally:
    uint64_t marks                       # how many
    uint64_t low                         # sum of value bits 0-15
    uint64_t high                        # sum of value bits 16-31
    uint64_t by_value[SMALL_VALUES]      # how many with value 0, 1, 2, 3


cdef class Tally(Consumer):
    """Totals of a stream. ``traced``: the stream has the addresses of memory accesses in it."""

    cdef ShapeTable shapes
    cdef BlockTally* blocks
    cdef uint64_t capacity
    cdef MarkTally mark_tallies[MARK_KINDS]
    cdef bint traced

    def __cinit__(self, ShapeTable shapes, bint traced=False):
        self.shapes = shapes
        self.traced = traced

    def __dealloc__(self):
        free(self.blocks)

    cdef int grow(self) noexcept nogil:
        """Room for every block that has a shape; 0 when there is no memory."""
        cdef uint64_t capacity = self.shapes.c.count * 2
        cdef BlockTally* fresh = <BlockTally*>realloc(self.blocks, capacity * sizeof(BlockTally))
        if fresh == NULL:
            return 0
        memset(fresh + self.capacity, 0, (capacity - self.capacity) * sizeof(BlockTally))
        self.blocks = fresh
        self.capacity = capacity
        return 1

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, word, runs
        cdef BlockTally* block
        cdef Shape* shape
        if self.shapes.c.count > self.capacity and not self.grow():
            return
        while i < count:
            word = words[i]
            i += 1
            if word >> 63:
                add_mark(self.mark_tallies, word)
                continue
            runs = 1
            if not self.traced:
                while i < count and words[i] == word:    # a loop of one block
                    i += 1
                    runs += 1
            block = &self.blocks[word & BLOCK_MASK]
            block.runs += runs
            if word >> 32:
                if runs == 1:
                    add_conditions(block, <uint32_t>(word >> 32))
                else:
                    add_repeated(block, <uint32_t>(word >> 32), runs)
            if self.traced:
                shape = &self.shapes.c.shapes[word & BLOCK_MASK]
                i += shape.accesses + popcount(word & shape.access_mask)

    def runs(self, uint64_t number) -> int:
        """How often block ``number`` ran."""
        return self.blocks[number].runs if number < self.capacity else 0

    def executed(self, uint64_t number) -> list[int]:
        """How often each of its 31 conditions held."""
        cdef int condition, plane
        cdef uint64_t total
        if number >= self.capacity:
            return [0] * CONDITIONS
        counts = []
        for condition in range(CONDITIONS):
            total = self.blocks[number].executed[condition]
            for plane in range(PLANES):
                total += <uint64_t>((self.blocks[number].planes[plane] >> condition) & 1) << plane
            counts.append(total)
        return counts

    def marks(self, int kind) -> MarkTotals:
        """Totals of the marks of one kind."""
        cdef MarkTally* tally = &self.mark_tallies[kind]
        return MarkTotals(tally.marks, tally.low, tally.high, tuple([tally.by_value[i] for i in range(SMALL_VALUES)]))


cdef inline void add_mark(MarkTally* tallies, uint64_t word) noexcept nogil:
    cdef uint64_t kind = (word >> MARK_SHIFT) & 0x7F
    cdef uint64_t value = word & ((<uint64_t>1 << MARK_SHIFT) - 1)
    cdef MarkTally* tally
    if kind < MARK_KINDS:
        tally = &tallies[kind]
        tally.marks += 1
        tally.low += value & 0xFFFF
        tally.high += (value >> 16) & 0xFFFF
        if value < SMALL_VALUES:
            tally.by_value[value] += 1


cdef inline void add_conditions(BlockTally* block, uint32_t held) noexcept nogil:
    cdef uint32_t carry = held, kept
    cdef int plane
    for plane in range(PLANES):
        kept = block.planes[plane]
        block.planes[plane] = kept ^ carry
        carry &= kept
        if carry == 0:
            return
    carry_out(block, carry, 1)


cdef void carry_out(BlockTally* block, uint32_t held, uint64_t times) noexcept nogil:
    """Count what the planes cannot hold: ``times`` whole rounds of them for each condition in ``held``."""
    cdef int condition
    for condition in range(CONDITIONS):
        if (held >> condition) & 1:
            block.executed[condition] += times << PLANES


cdef void add_repeated(BlockTally* block, uint32_t held, uint64_t runs) noexcept nogil:
    """Count ``runs`` runs with the same conditions: a binary addition of ``runs`` to the counters of those."""
    cdef uint32_t carry = 0, kept, added
    cdef int plane
    for plane in range(PLANES):
        kept = block.planes[plane]
        added = held if (runs >> plane) & 1 else 0
        block.planes[plane] = kept ^ added ^ carry
        carry = (kept & added) | (carry & (kept | added))
    if carry:
        carry_out(block, carry, 1)
    if runs >> PLANES:
        carry_out(block, held, runs >> PLANES)
