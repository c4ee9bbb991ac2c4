"""Totals of the stream: runs of each block, and executions of each of its conditional instructions.

Most blocks have few combinations of conditions. So runs are counted by word, in a small table that fits into the host's
cache; the count of an evicted word is added to its block. There the conditions are counted by bit slices: plane k has
bit k of the counters of all 31 conditions, so one addition counts all conditions that held.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from pfmon.stream._stream cimport (
    BlockHead, BlockSize, CONDITION_SHIFT, Failure, MARK_KINDS, Mark, PATH_BIT, PathHead, PathTable, accesses_of,
    mark_kind, mark_value, past_addresses)

from pfmon.stream.marks import MarkSite, MarkTotals


cdef bint room_for_runs(uint64_t** runs, uint64_t* capacity, uint64_t count) noexcept nogil:
    """Makes room for two numbers of runs each; False: out of memory."""
    cdef uint64_t* more
    if count <= capacity[0]:
        return True
    more = <uint64_t*>realloc(runs[0], 4 * count * sizeof(uint64_t))
    if more == NULL:
        return False
    memset(more + 2 * capacity[0], 0, 2 * (2 * count - capacity[0]) * sizeof(uint64_t))
    runs[0], capacity[0] = more, 2 * count
    return True


cdef class Tally(RunCounter):
    """Totals of a stream. ``traced``: the stream has the addresses of memory accesses in it."""

    def __cinit__(self, BlockTable table, bint traced=False):
        self.table = table
        self.traced = traced
        self.last = NO_BLOCK
        self.words = <WordTally*>calloc(WORDS, sizeof(WordTally))
        if self.words == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef uint32_t bank
        free(self.words)
        free(self.path_runs)
        free(self.block_runs)
        for bank in range(BANKS):
            free(self.blocks[bank])
            free(self.executed_[bank])
        free(self.sites)

    cdef bint room(self) noexcept nogil:
        """Reserves room for every entered block."""
        cdef uint32_t bank
        for bank in range(BANKS):
            if self.table.c.header.bank[bank].blocks > self.capacity[bank] and not self.grow(bank):
                self.fail(Failure.OUT_OF_MEMORY)
                return False
        if self.paths is not None and not self.room_for_paths():
            self.fail(Failure.OUT_OF_MEMORY)
            return False
        return True

    cdef bint take_paths(self, PathTable paths) noexcept:
        self.paths = paths
        return True

    cdef bint room_for_paths(self) noexcept nogil:
        return (room_for_runs(&self.path_runs, &self.path_capacity, self.paths.count)
                and room_for_runs(&self.block_runs, &self.block_capacity, self.paths.block_count))

    cdef bint grow(self, uint32_t bank) noexcept nogil:
        cdef uint64_t capacity = self.table.c.header.bank[bank].blocks * 2, had = self.capacity[bank]
        cdef BlockTally* blocks = <BlockTally*>realloc(self.blocks[bank], capacity * sizeof(BlockTally))
        cdef ExecutedTally* executed
        if blocks == NULL:
            return False
        self.blocks[bank] = blocks
        executed = <ExecutedTally*>realloc(self.executed_[bank], capacity * sizeof(ExecutedTally))
        if executed == NULL:
            return False
        self.executed_[bank] = executed
        memset(blocks + had, 0, (capacity - had) * sizeof(BlockTally))
        memset(executed + had, 0, (capacity - had) * sizeof(ExecutedTally))
        self.capacity[bank] = capacity
        return True

    cdef void add_runs_of(self, uint64_t word, uint64_t runs) noexcept nogil:
        """Counts ``runs`` runs of the block and with the conditions of ``word``."""
        tally_of(self, word & BLOCK_MASK).runs += runs
        if word >> 32:
            self.add_repeated(word & BLOCK_MASK, <uint32_t>(word >> 32), runs)

    cdef void add_marked(self, uint64_t word, uint64_t block) noexcept nogil:
        self.add_mark(word, block)

    cdef void flush_words(self) noexcept nogil:
        """Adds all counts by word to their blocks: readers of ``blocks`` call this first."""
        cdef uint64_t i
        if not self.unsettled:
            return
        if self.paths is not None:
            self.flush_paths()
        for i in range(WORDS):
            if self.words[i].runs:
                self.add_runs_of(self.words[i].word, self.words[i].runs)
                self.words[i].runs = 0
        self.unsettled = False

    cdef void flush_paths(self) noexcept nogil:
        cdef uint64_t i
        for i in range(2 * min(self.paths.count, self.path_capacity)):
            if self.path_runs[i]:
                self.add_runs_of_path(&self.paths.heads[i >> 1], self.path_runs[i], i & 1)
                self.path_runs[i] = 0
        for i in range(2 * min(self.paths.block_count, self.block_capacity)):
            if self.block_runs[i]:
                self.add_runs_of(i >> 1 | (i & 1) << CONDITION_SHIFT, self.block_runs[i])
                self.block_runs[i] = 0

    cdef void add_runs_of_path(self, const PathHead* path, uint64_t runs, uint64_t condition) noexcept nogil:
        """Counts runs of a path by its blocks; ``condition``: that of its last block, or 0."""
        cdef uint64_t i
        for i in range(path.first, path.first + path.blocks - 1):
            self.add_runs_of(self.paths.words[i], runs)
        self.add_runs_of(self.paths.words[path.first + path.blocks - 1] | condition << CONDITION_SHIFT, runs)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t i = 0, word, last = self.last
        cdef WordTally* entry
        cdef WordTally* tallies = self.words
        cdef const BlockHead* heads = self.table.c.heads
        cdef bint traced = self.traced
        if not self.room():
            return
        self.unsettled = True
        if self.paths is not None:
            self.consume_paths(words, count)
            return
        while i < count:
            word = words[i]
            i += 1
            if word >> 63:
                self.add_word(word, last)
                continue
            last = word & BLOCK_MASK
            entry = &tallies[word_index(word)]
            if entry.word != word:
                if entry.runs:
                    self.add_runs_of(entry.word, entry.runs)
                entry.word = word
                entry.runs = 0
            entry.runs += 1
            if traced:
                i = past_addresses(i, accesses_of(&heads[last], word))
        self.last = last

    cdef void consume_paths(self, const uint64_t* words, uint64_t count) noexcept nogil:
        """Counts the words of paths, and of blocks: their last conditions are the only ones."""
        cdef const BlockSize* path_sizes = self.paths.sizes
        cdef const BlockSize* block_sizes = self.paths.block_sizes
        cdef uint64_t* path_runs = self.path_runs
        cdef uint64_t* block_runs = self.block_runs
        cdef uint64_t i = 0, word, number, last = self.last
        cdef bint traced = self.traced
        while i < count:
            word = words[i]
            i += 1
            if word >> 63:
                self.add_word(word, self.block_of(last))
                continue
            last = word & BLOCK_MASK
            if last & PATH_BIT:
                number = last ^ PATH_BIT
                path_runs[2 * number + (word >> CONDITION_SHIFT)] += 1
                i += path_sizes[number].addresses if traced else 0
            else:
                block_runs[2 * last + (word >> CONDITION_SHIFT)] += 1
                i += block_sizes[last].addresses if traced else 0
        self.last = last

    cdef void add_word(self, uint64_t mark, uint64_t block) noexcept nogil:
        """Counts a mark behind a block, or the further runs that it stands for."""
        if mark_kind(mark) == Mark.TIMES:
            self.add_runs_of(block, mark_value(mark))
        else:
            self.add_mark(mark, block)

    cdef uint64_t block_of(self, uint64_t number) noexcept nogil:
        """The block of a number, or the last one of a path's."""
        if number & PATH_BIT == 0 or number == NO_BLOCK:
            return number
        return self.paths.last_block(number ^ PATH_BIT)

    cdef void follow(self, uint64_t block) noexcept nogil:
        self.last = block

    cdef uint64_t held(self, uint64_t number, uint32_t condition) noexcept nogil:
        """Returns how often a condition of a block held."""
        cdef const BlockTally* block = tally_of(self, number)
        cdef uint64_t total = self.executed_[number >> BANK_SHIFT][number & BANK_MASK].condition[condition]
        cdef int plane
        for plane in range(PLANES):
            total += <uint64_t>((block.planes[plane] >> condition) & 1) << plane
        return total

    cdef uint64_t inside_of(self, uint64_t number, uint64_t access) noexcept nogil:
        """Returns the accesses in data ranges: 0, there are none."""
        return 0

    def instructions(self) -> int:
        """Number of retired instructions."""
        cdef uint64_t bank, i, total = 0
        self.flush_words()
        for bank in range(BANKS):
            for i in range(min(self.capacity[bank], self.table.c.header.bank[bank].blocks)):
                total += self.blocks[bank][i].runs * self.table.c.heads[(bank << BANK_SHIFT) + i].length
        return total

    def runs(self, uint64_t number) -> int:
        """Number of runs of block ``number``."""
        self.flush_words()
        return tally_of(self, number).runs if number & BANK_MASK < self.capacity[number >> BANK_SHIFT] else 0

    def executed(self, uint64_t number) -> list[int]:
        """Number of times that each of its 31 conditions held."""
        cdef uint32_t condition
        self.flush_words()
        if number & BANK_MASK >= self.capacity[number >> BANK_SHIFT]:
            return [0] * CONDITIONS
        return [self.held(number, condition) for condition in range(CONDITIONS)]

    cdef bint grow_sites(self) noexcept nogil:
        """Doubles the table of sites."""
        cdef uint64_t capacity = self.site_capacity * 2 if self.site_capacity else 1024
        cdef TallySite* fresh = <TallySite*>calloc(capacity, sizeof(TallySite))
        cdef uint64_t i
        if fresh == NULL:
            self.fail(Failure.OUT_OF_MEMORY)
            return False
        for i in range(self.site_capacity):
            if self.sites[i].key:
                find_site(fresh, capacity, self.sites[i].key)[0] = self.sites[i]
        free(self.sites)
        self.sites = fresh
        self.site_capacity = capacity
        return True

    cdef TallySite* add_mark(self, uint64_t word, uint64_t block) noexcept nogil:
        """Counts a mark; returns its site, or NULL."""
        cdef TallySite* site
        if (word >> MARK_SHIFT) & 0x7F >= MARK_KINDS:
            self.fail(Failure.BAD_STREAM)
            return NULL
        if self.site_count * 2 >= self.site_capacity and not self.grow_sites():
            return NULL
        site = find_site(self.sites, self.site_capacity, site_key(word, block))
        if site.key == 0:
            site.key = site_key(word, block)
            self.site_count += 1
        count_mark(&site.all, word)
        return site

    cdef void carry_out(self, uint64_t block, uint32_t held, uint64_t times) noexcept nogil:
        """Carries out of the planes: ``times`` whole rounds of them for each condition in ``held``."""
        cdef ExecutedTally* executed = &self.executed_[block >> BANK_SHIFT][block & BANK_MASK]
        cdef int condition
        for condition in range(CONDITIONS):
            if (held >> condition) & 1:
                executed.condition[condition] += times << PLANES

    cdef void add_repeated(self, uint64_t number, uint32_t held, uint64_t runs) noexcept nogil:
        """Counts ``runs`` runs with the same conditions: a binary addition of ``runs`` to their counters."""
        cdef BlockTally* block = tally_of(self, number)
        cdef uint32_t carry = 0, kept, added
        cdef int plane
        for plane in range(PLANES):
            kept = block.planes[plane]
            added = held if (runs >> plane) & 1 else 0
            block.planes[plane] = kept ^ added ^ carry
            carry = (kept & added) | (carry & (kept | added))
        if carry:
            self.carry_out(number, carry, 1)
        if runs >> PLANES:
            self.carry_out(number, held, runs >> PLANES)

    def sites_of_marks(self) -> list[MarkSite]:
        """Sites of the marks, by block, instruction and kind."""
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


cdef TallySite* find_site(TallySite* sites, uint64_t capacity, uint64_t key) noexcept nogil:
    """Finds a key in a table with a free slot: returns its slot, or the free slot for it."""
    cdef uint64_t at = (key * <uint64_t>0x9E3779B97F4A7C15) >> 32 & (capacity - 1)
    while sites[at].key != key and sites[at].key != 0:
        at = (at + 1) & (capacity - 1)
    return &sites[at]
