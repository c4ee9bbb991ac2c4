"""Counting while the program runs: see live.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.counting.call_stack cimport CallStack
from pfmon.counting.cycles cimport CycleCounts
from pfmon.counting.increments cimport Increments
from pfmon.counting.sink cimport Sink
from pfmon.machine.items cimport BlockItems, Items
from pfmon.stream.table cimport BlockHead, BlockTable

cdef enum:
    MOST_MONITORS = 32
    WORDS = 4096                 # a power of two
    NODES = 1 << 14              # a power of two
    HEAD = 2                     # words before the sums of an entry of the tables below
    PAIRS = 4

cdef class Live(Items):
    cdef BlockTable table
    cdef Increments increments
    cdef CycleCounts cycles      # None: no machine
    cdef Sink scratch            # what one item adds
    cdef readonly uint32_t monitors
    cdef bint traced, ranged     # some monitor looks at data addresses
    cdef uint32_t ranges
    cdef uint64_t range_address[PAIRS]
    cdef uint64_t range_mask[PAIRS]
    cdef bint frozen
    cdef readonly uint64_t retired
    cdef uint64_t mark_kinds     # that some monitor counts
    cdef int64_t counted[MOST_MONITORS]
    cdef int64_t left[MOST_MONITORS]     # increments until the counter wraps
    cdef uint64_t* words         # by hash: word, its instructions, and what a run of it adds, by monitor
    cdef uint64_t* nodes         # by hash: node, generation, and what a run of it adds
    cdef uint64_t last
    cdef CallStack calls         # or None
    cdef const uint64_t* behind  # words that it has still to read; NULL: it gets block by block
    cdef object on_overflow
    cdef readonly object error

    cdef void take_block(self, const BlockItems* block) noexcept nogil
    cdef uint64_t pass_whole(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef const int64_t* of_word(self, uint64_t word) noexcept nogil
    cdef const int64_t* of_node(self, const BlockItems* block) noexcept nogil
    cdef void add_instruction(self, uint64_t word, uint32_t i, uint64_t address, int64_t* sums) noexcept nogil
    cdef void add_ranged(self, uint64_t word, const uint64_t* addresses, int64_t* sums) noexcept nogil
    cdef void add_mark(self, uint64_t block, uint64_t word, const uint64_t* addresses, const uint64_t* marks,
                       uint64_t count, uint64_t k, int64_t* sums) noexcept nogil
    cdef void add_item(self, const uint32_t* item, int64_t* sums) noexcept nogil
    cdef bint fits(self, const int64_t* sums) noexcept nogil
    cdef void commit(self, const int64_t* sums) noexcept nogil
    cdef void step(self, const int64_t* sums, uint64_t address) noexcept nogil
    cdef void pass_by(self, const BlockItems* block) noexcept nogil
    cdef void take_item(self, const uint32_t* item) noexcept nogil
    cdef uint64_t place_of(self, uint32_t item) noexcept nogil
    cdef void take_apart(self, const BlockItems* block) noexcept nogil
    cdef bint in_range(self, uint64_t address) noexcept nogil
    cdef bint inside(self, uint64_t number, uint64_t word, const uint64_t* addresses, uint64_t instruction) noexcept nogil
