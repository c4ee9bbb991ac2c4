"""The timeline of hot blocks on an in-order core: see issue_timeline.pyx."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.machine._outoforder cimport BlockHistory, MAX_CAPTURES, find_place, gives_up, is_better, overlaps
from pfmon.stream._stream cimport BANKS, BANK_MASK, BANK_SHIFT, BlockTable

cdef enum:
    ISSUE_RUNS = 1024            # executions of blocks of a capture,
    ISSUE_ITEMS = 1 << 14        # ... and words of their records

cdef struct IssueRun:            # an execution of a block
    uint32_t block
    uint32_t first_item
    uint64_t before, after       # cycles recorded until then

cdef struct IssueCapture:        # consecutive executions of blocks: from one of `block` on
    uint32_t block
    uint32_t runs, items, rows
    uint32_t iterations
    uint8_t whole                # the last iteration ended with a further one
    uint64_t execution           # of `block` with which it begins
    IssueRun run[ISSUE_RUNS]
    uint32_t item[ISSUE_ITEMS]   # numbers of parts (bit 31 clear) and bubbles (set), each with its times


@cython.final
cdef class IssueTimeline(RecordObserver):
    cdef BlockTable table
    cdef Records records
    cdef RecordObserver following  # it observes, too; None: nothing does
    cdef uint64_t* ranges        # first address and the one behind, of each; NULL: all blocks
    cdef uint32_t range_count
    cdef uint32_t iterations, rows  # of a capture: it ends when it has either
    cdef uint32_t capacity       # captures
    cdef IssueCapture* captures[MAX_CAPTURES]
    cdef BlockHistory* kept[MAX_CAPTURES]
    cdef uint32_t count          # captures so far
    cdef IssueCapture* open      # under way; NULL: none is
    cdef IssueCapture* spare     # that the next one is made in
    cdef BlockHistory* opened    # of its block
    cdef BlockHistory** histories[BANKS]  # by bank and number
    cdef uint64_t known[BANKS]
    cdef uint64_t now            # cycles recorded before
    cdef bint lost               # there was no memory

    cdef BlockHistory* history_of(self, uint64_t number) noexcept nogil
    cdef BlockHistory* remember(self, uint64_t number) noexcept nogil
    cdef void go_on(self, uint64_t number, const ObservedBlock* block) noexcept nogil
    cdef void begin_capture(self, uint64_t number, BlockHistory* history) noexcept nogil
    cdef void end_capture(self, bint whole) noexcept nogil
    cdef void put_items(self, const uint32_t* items, uint32_t count) noexcept nogil
    cdef list items_between(self, uint32_t first, uint32_t end, uint32_t place)
    cdef object chain_of(self, uint32_t number)
