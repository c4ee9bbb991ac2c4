"""The instruction side of the memory: L1I, instruction TLBs, prefetch, streaming buffer."""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

from pfmon.machine.l2 cimport L2
from pfmon.machine.notes cimport Notes
from pfmon.machine.predictor cimport BranchPredictor
from pfmon.machine.present_lines cimport LINE_GROUPS, LineGroup
from pfmon.machine.queues cimport Queue
from pfmon.machine.shares cimport Shares
from pfmon.machine.streaming_buffer cimport StreamingBuffer
from pfmon.machine.tags cimport TagStore
from pfmon.machine.tlb cimport PageTable, Tlb

cdef extern from *:
    const uint64_t NO_PAGE "UINT64_MAX"

cdef enum:
    WINDOW = 32                  # bytes that are fetched together: a pair of bundles
    RECENT_LINES = 256
    PAGE_CLASSES = 256           # of pages, by low bits of their numbers

cdef struct Fetched:
    int64_t ready                # cycle in which the window is there
    uint32_t cause               # causes.pxd, FrontCause, if it is later than asked for
    uint32_t second_cause        # a part of the wait may have another cause (a TLB miss, then a cache miss)
    uint32_t second_cycles
    int64_t asked                # cycle in which L2 was asked for the line; -1: it was there, or in the streaming buffer
    uint32_t under_way           # it had been asked for before
    uint32_t level               # watch.TlbLevel: what served a miss of the first-level TLB
    int64_t kernel               # cycles of the wait in which the operating system ran

cdef struct Recent:              # the line that was used last of those of some sets: in L1I, and the most recent
    uint64_t line                # number; NO_LINE
    int64_t ready

cdef struct Stream:              # lines that are still to be asked for
    uint64_t next
    uint32_t left                # as far as it may go now
    bint active                  # it goes on when a line that it brought is fetched
    int64_t since                # cycle from which the next one can be asked for


cdef class InstructionFetch:
    """What the front end reads its bundles from."""

    cdef readonly L2 l2
    cdef readonly BranchPredictor predictor
    cdef TagStore cache
    cdef Tlb tlb1
    cdef Tlb tlb2                # None: the first level is the only one
    cdef PageTable table
    cdef uint64_t thread         # set in the TLBs' addresses of the thread that runs, if both have the same addresses
    cdef uint64_t shared         # ... of either of them; 0: each has its own
    cdef bint prevalidated       # lines of a page go with its entry in the first TLB
    cdef uint32_t brought        # bytes that a request brings from L2
    cdef uint32_t line, line_shift, tlb_shift, page_shift, entry_shift
    cdef uint32_t page_lines_shift       # a line's number to its page's in the first-level TLB
    cdef int64_t transfer_cycles, walk_cycles, software_cycles
    cdef Recent recent[RECENT_LINES]              # by low bits of the line's number
    cdef uint64_t recent_mask
    cdef uint64_t last_page      # number of the page that was used last: its entry is there, and the most recent
    cdef uint16_t page_lines[PAGE_CLASSES]        # lines in L1I of the pages of a class
    cdef StreamingBuffer buffer
    cdef Queue requests          # RAB: lines under way
    cdef Queue hints             # PVAB: addresses of hints that wait for the prefetch pipeline
    cdef Stream stream
    cdef uint32_t stream_lines
    cdef int64_t prefetch_free   # cycle from which the prefetch pipeline takes a hint
    cdef LineGroup groups[LINE_GROUPS]            # what is in L1I and the streaming buffer

    # Whether the window's line is in L1I and its page in the first-level TLB: then it is there when it is asked for.
    cdef bint quick(self, uint64_t address, int64_t now) noexcept nogil
    # The same of all windows of a line, by its number.
    cdef bint quick_line(self, uint64_t number, int64_t now) noexcept nogil
    cdef void note_quick(self, Notes* notes) noexcept nogil
    cdef void fetch(self, Notes* notes, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    # The snoop of an fc that a recording does not say the line of.
    cdef void note_flush(self, Notes* notes) noexcept nogil
    cdef void finish(self, int64_t now) noexcept nogil
    cdef void watch(self, Shares shares) noexcept nogil
    cdef bint lost(self) noexcept nogil
    # The cycle before which everything has been done, if the front end has come to cycle ``now``.
    cdef int64_t settled(self, int64_t now) noexcept nogil

    cdef bint quick_otherwise(self, uint64_t address, int64_t now) noexcept nogil
    cdef void used(self, uint64_t address, int64_t ready) noexcept nogil
    cdef int64_t translate(self, Notes* notes, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    cdef int64_t walk(self, Notes* notes, uint64_t address, int64_t now, Fetched* out) noexcept nogil
    cdef void insert_first(self, Notes* notes, uint64_t address) noexcept nogil
    cdef int64_t bring(self, Notes* notes, uint64_t address, int64_t place, int64_t now, Fetched* out) noexcept nogil
    cdef void fill(self, Notes* notes, uint64_t address, int64_t ready) noexcept nogil
    cdef void drop(self, uint64_t address) noexcept nogil
    cdef uint16_t* lines_of(self, uint64_t address) noexcept nogil
    cdef void drop_page(self, uint64_t page) noexcept nogil
    cdef int64_t ask(self, Notes* notes, uint64_t line, int kind, int64_t now) noexcept nogil
    # So many lines were asked for.
    cdef void note_lines(self, Notes* notes, uint32_t asked) noexcept nogil
    cdef LineGroup* group_of(self, uint64_t number) noexcept nogil
    cdef void find_lines(self, LineGroup* group, uint64_t number) noexcept nogil
    cdef bint present(self, uint64_t line) noexcept nogil
