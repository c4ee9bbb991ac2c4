"""State of a tally, and the steps that its subclasses share."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport (
    BANKS, BANK_MASK, BANK_SHIFT, BLOCK_MASK, BlockTable, MARK_SHIFT, PathHead, PathTable, RunCounter)

cdef enum:
    WORDS = 4096                 # a power of two
    PLANES = 14                  # with these a block's tally fills a line of the host's cache
    CONDITIONS = 31
    SMALL_VALUES = 4
    NO_BLOCK = 0xFFFFFFFF        # instead of a block's number: before the first one

cdef struct WordTally:           # runs of a block with the same conditions, not yet in its BlockTally
    uint64_t word
    uint64_t runs

cdef struct BlockTally:
    uint64_t runs
    uint32_t planes[PLANES]

cdef struct ExecutedTally:       # multiples of 2**PLANES carried out of the planes
    uint64_t condition[CONDITIONS]

cdef struct MarkTally:
    uint64_t marks               # number
    uint64_t low                 # sum of value bits 0-15
    uint64_t high                # sum of value bits 16-31
    uint64_t by_value[SMALL_VALUES]      # number with value 0, 1, 2, 3

cdef struct TallySite:           # marks of one kind caused by one instruction of one block
    uint64_t key                 # site_key; 0: free
    MarkTally all
    MarkTally inside             # those whose address is in the data ranges (DataRangeTally)


cdef class Tally(RunCounter):
    """Totals of a stream; see tally.pyx."""

    cdef BlockTable table
    cdef WordTally* words        # direct-mapped by block and conditions
    cdef bint unsettled          # some of them have runs
    cdef BlockTally* blocks[BANKS]
    cdef ExecutedTally* executed_[BANKS]
    cdef uint64_t capacity[BANKS]
    cdef TallySite* sites        # open-addressed hash
    cdef uint64_t site_capacity  # a power of two
    cdef uint64_t site_count
    cdef uint64_t last           # number of the block that retired last, or with PATH_BIT that of a path
    cdef bint traced
    cdef PathTable paths         # of the stream; None: its words are of blocks alone
    cdef uint64_t* path_runs     # by path, and whether its last condition held; not yet in the tallies of its blocks
    cdef uint64_t path_capacity
    cdef uint64_t* block_runs    # of a stream with paths: by block, and whether its last condition held; not yet there either
    cdef uint64_t block_capacity

    @cython.final
    cdef bint grow(self, uint32_t bank) noexcept nogil
    @cython.final
    cdef bint room_for_paths(self) noexcept nogil
    @cython.final
    cdef void consume_paths(self, const uint64_t* words, uint64_t count) noexcept nogil
    @cython.final
    cdef void flush_words(self) noexcept nogil
    @cython.final
    cdef void flush_paths(self) noexcept nogil
    @cython.final
    cdef void add_word(self, uint64_t mark, uint64_t block) noexcept nogil
    @cython.final
    cdef uint64_t block_of(self, uint64_t number) noexcept nogil
    @cython.final
    cdef void add_runs_of_path(self, const PathHead* path, uint64_t runs, uint64_t condition) noexcept nogil
    @cython.final
    cdef bint grow_sites(self) noexcept nogil
    @cython.final
    cdef TallySite* add_mark(self, uint64_t word, uint64_t block) noexcept nogil
    @cython.final
    cdef uint64_t held(self, uint64_t number, uint32_t condition) noexcept nogil
    cdef uint64_t inside_of(self, uint64_t number, uint64_t access) noexcept nogil
    @cython.final
    cdef void carry_out(self, uint64_t block, uint32_t held, uint64_t times) noexcept nogil
    @cython.final
    cdef void add_repeated(self, uint64_t block, uint32_t held, uint64_t runs) noexcept nogil


cdef inline BlockTally* tally_of(Tally tally, uint64_t number) noexcept nogil:
    """Returns the tally of a block that has room."""
    return &tally.blocks[number >> BANK_SHIFT][number & BANK_MASK]


cdef inline uint64_t site_key(uint64_t word, uint64_t block) noexcept nogil:
    """Returns the key of a mark's kind, instruction and block."""
    return <uint64_t>1 << 63 | (word >> MARK_SHIFT & 0x7F) << 40 | (word >> 32 & 0xFF) << 32 | block & BLOCK_MASK


cdef inline uint64_t word_index(uint64_t word) noexcept nogil:
    """Returns the index of a block's word in ``words``."""
    return (word ^ (word >> 32) * 0x9E5) & (WORDS - 1)


cdef inline void count_mark(MarkTally* tally, uint64_t word) noexcept nogil:
    cdef uint64_t value = word & 0xFFFFFFFFULL
    tally.marks += 1
    tally.low += value & 0xFFFF
    tally.high += value >> 16
    if value < SMALL_VALUES:
        tally.by_value[value] += 1


cdef inline void add_conditions(Tally tally, BlockTally* block, uint64_t number, uint32_t held) noexcept nogil:
    cdef uint32_t carry = held, kept
    cdef int plane
    for plane in range(PLANES):
        kept = block.planes[plane]
        block.planes[plane] = kept ^ carry
        carry &= kept
        if carry == 0:
            return
    tally.carry_out(number, carry, 1)
