"""Counting the stream: how often each block ran, and how often each of its conditional instructions executed.

Most blocks run under few different conditions. So a run is counted with its word, in a small table that stays in the
host's cache; a word that makes room for another takes what it counted to its block. There the conditions are counted by
bit slices: plane k holds bit k of the counters of all 31 conditions, so that one addition does for all that held.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pfmon.stream.shapes cimport Shape, ShapeTable, popcount
from pfmon.stream.stream cimport BLOCK_MASK, MARK_KINDS, MARK_SHIFT

from pfmon.stream.marks import MarkSite, MarkTotals


cdef class Tally(Consumer):
    """Totals of a stream. ``traced``: the stream has the addresses of memory accesses in it."""

    def __cinit__(self, ShapeTable shapes, bint traced=False):
        self.shapes = shapes
        self.traced = traced
        self.last = NO_BLOCK
        self.words = <WordTally*>calloc(WORDS, sizeof(WordTally))
        if self.words == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.words)
        free(self.blocks)
        free(self.sites)

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

    cdef void add_runs_of(self, uint64_t word, uint64_t runs) noexcept nogil:
        """Count ``runs`` runs of the block and with the conditions of ``word``."""
        cdef BlockTally* block = &self.blocks[word & BLOCK_MASK]
        block.runs += runs
        if word >> 32:
            add_repeated(block, <uint32_t>(word >> 32), runs)

    cdef void settle(self) noexcept nogil:
        """Everything is counted by block: what reads ``blocks`` calls this first."""
        cdef uint64_t i
        if not self.unsettled:
            return
        for i in range(WORDS):
            if self.words[i].runs:
                self.add_runs_of(self.words[i].word, self.words[i].runs)
                self.words[i].runs = 0
        self.unsettled = False

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, word, last = self.last
        cdef WordTally* place
        cdef Shape* shape
        if self.shapes.c.count > self.capacity and not self.grow():
            return
        self.unsettled = True
        while i < count:
            word = words[i]
            i += 1
            if word >> 63:
                self.add_mark(word, last)
                continue
            last = word & BLOCK_MASK
            place = &self.words[word_place(word)]
            if place.word != word:
                if place.runs:
                    self.add_runs_of(place.word, place.runs)
                place.word = word
                place.runs = 0
            place.runs += 1
            if self.traced:
                shape = &self.shapes.c.shapes[last]
                i += shape.accesses + popcount(word & shape.access_mask)
        self.last = last

    cdef void follow(self, uint64_t block) noexcept nogil:
        self.last = block

    def instructions(self) -> int:
        """How many instructions retired."""
        cdef uint64_t number, total = 0
        self.settle()
        for number in range(min(self.capacity, self.shapes.c.count)):
            total += self.blocks[number].runs * self.shapes.c.shapes[number].length
        return total

    def runs(self, uint64_t number) -> int:
        """How often block ``number`` ran."""
        self.settle()
        return self.blocks[number].runs if number < self.capacity else 0

    def executed(self, uint64_t number) -> list[int]:
        """How often each of its 31 conditions held."""
        cdef int condition, plane
        cdef uint64_t total
        self.settle()
        if number >= self.capacity:
            return [0] * CONDITIONS
        counts = []
        for condition in range(CONDITIONS):
            total = self.blocks[number].executed[condition]
            for plane in range(PLANES):
                total += <uint64_t>((self.blocks[number].planes[plane] >> condition) & 1) << plane
            counts.append(total)
        return counts

    cdef int grow_sites(self) noexcept nogil:
        """Twice the room for sites; 0 when there is no memory."""
        cdef uint64_t capacity = self.site_capacity * 2 if self.site_capacity else 1024
        cdef Site* fresh = <Site*>calloc(capacity, sizeof(Site))
        cdef uint64_t i
        if fresh == NULL:
            return 0
        for i in range(self.site_capacity):
            if self.sites[i].key:
                find_site(fresh, capacity, self.sites[i].key)[0] = self.sites[i]
        free(self.sites)
        self.sites = fresh
        self.site_capacity = capacity
        return 1

    cdef Site* add_mark(self, uint64_t word, uint64_t block) noexcept nogil:
        """Count a mark; where it was counted, or NULL."""
        cdef Site* site
        if (word >> MARK_SHIFT) & 0x7F >= MARK_KINDS:
            return NULL
        if self.site_count * 2 >= self.site_capacity and not self.grow_sites():
            return NULL
        site = find_site(self.sites, self.site_capacity, site_key(word, block))
        if site.key == 0:
            site.key = site_key(word, block)
            self.site_count += 1
        count_mark(&site.all, word)
        return site

    def sites_of_marks(self) -> list[MarkSite]:
        """Where the marks came from, by block, instruction and kind."""
        found = []
        cdef uint64_t i, key
        for i in range(self.site_capacity):
            key = self.sites[i].key
            if key:
                found.append(MarkSite(
                    None if key & BLOCK_MASK == NO_BLOCK else key & BLOCK_MASK, key >> 32 & 0xFF, key >> 40 & 0x7F,
                    mark_totals(&self.sites[i].all), mark_totals(&self.sites[i].inside)))
        return sorted(found, key=lambda site: (-1 if site.block is None else site.block, site.instruction, site.kind))

    def marks(self, int kind) -> MarkTotals:
        """Totals of the marks of one kind."""
        cdef MarkTally total
        cdef uint64_t i, value
        memset(&total, 0, sizeof(total))
        for i in range(self.site_capacity):
            if self.sites[i].key and <int>(self.sites[i].key >> 40 & 0x7F) == kind:
                total.marks += self.sites[i].all.marks
                total.low += self.sites[i].all.low
                total.high += self.sites[i].all.high
                for value in range(SMALL_VALUES):
                    total.by_value[value] += self.sites[i].all.by_value[value]
        return mark_totals(&total)


cdef object mark_totals(const MarkTally* tally):
    return MarkTotals(tally.marks, tally.low, tally.high, tuple([tally.by_value[i] for i in range(SMALL_VALUES)]))


cdef Site* find_site(Site* sites, uint64_t capacity, uint64_t key) noexcept nogil:
    """The place of a key in a table that has a free place: the one that holds it, or the free one where it goes."""
    cdef uint64_t at = (key * <uint64_t>0x9E3779B97F4A7C15) >> 32 & (capacity - 1)
    while sites[at].key != key and sites[at].key != 0:
        at = (at + 1) & (capacity - 1)
    return &sites[at]


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
