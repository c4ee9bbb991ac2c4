"""Miss events of a core: see miss_events.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockTable, EventSetConsumer


cdef enum:
    UNKNOWN_IP = 1               # where control goes from the last block of a turn
    MAX_LATE_LOADS = 1024        # accesses of a block

cdef struct LateLoad:            # a load of the current block, for the listener
    uint32_t cycles              # beyond the latency of L1D
    uint8_t source               # LoadSource; 0: L1D served it


cdef struct IssueSlots:          # what the slots of dispatch went to, without those of which only the rest is known
    uint64_t retired             # micro-operations,
    uint64_t heavy               # ... of instructions that have several
    int64_t undelivered          # ticks of waiting for the front end,
    int64_t latency              # ... those of whole cycles,
    int64_t mispredicted         # ... and behind a mispredicted branch


cdef class MissEvents(EventSetConsumer):
    cdef readonly Records records
    cdef readonly Hierarchy caches
    cdef readonly IntervalTlbs translations
    cdef readonly IntervalPredictor predictor
    cdef IntervalBlocks plans
    cdef EventTallies tallies
    cdef Window window
    cdef int64_t now             # cycles so far
    cdef uint32_t width, taken   # instructions that dispatch in a cycle; filled slots of the current one
    cdef uint64_t line           # of L1I that was fetched last, + 1
    cdef uint32_t shift          # of a line of L1D
    cdef uint32_t page_lines     # log2 of the lines of L1I in a page
    cdef LruRows l1d, l1i, dtlb, itlb  # of the caches and the first-level TLBs, used by every block
    cdef int64_t mispredict, redirect
    cdef int64_t window_cycles   # to fill the window
    cdef CaptureListener listener  # in the event set in force; None: there is none
    cdef uint64_t address        # of the current access
    # with a table of instructions
    cdef object timings          # None: there is none
    cdef readonly OutOfOrderCore core  # None: there is none
    cdef bint has_core           # there is one
    cdef bint says_snoops        # precise loads say what other cores answered
    cdef IntervalBlock* unfollowed       # it ended a turn of its thread by a branch whose target is not known yet, or NULL
    cdef uint32_t taken_back     # access of the current block whose line another core had modified, + 1
    cdef bint unforeseen         # ... and whose direction was mispredicted
    cdef int64_t ticks           # of a cycle, of the core
    cdef int64_t forward_excess  # ticks by which to forward a store's data takes longer than L1D, at most
    cdef BlockResponses responses        # of the current block
    cdef uint32_t end            # BlockEnd of the current block
    cdef RecentStores stores
    cdef LruSets code_windows    # of the µop cache; None: there is none
    cdef bint lines_share_set    # its lines of a window of code are of one set
    cdef uint64_t entered_windows  # in it so far, and one
    cdef uint64_t loop_begin, loop_branch        # addresses of a loop that may be in the loop buffer
    cdef uint32_t loop_uops, loop_size           # µops so far, and of the buffer
    cdef bint loops              # the buffer delivers it
    cdef bint recording          # events besides misses are wanted (core_events.pxd)
    cdef bint sources            # ... of where micro-operations come from
    cdef uint32_t source         # CodeSource of the block that ran last
    cdef uint32_t outcome, outcome_of    # events that instruction `outcome_of` has once: bits by CoreEvent
    cdef int64_t wait_rests[3]   # ticks of waits that are no whole cycle, or slot, yet
    cdef bint counts_slots
    cdef IssueSlots slots        # so far, if they are counted
    cdef bint blocked            # a store blocks a load of the current block
    cdef bint wrong              # the branch of the current block was mispredicted
    cdef LateLoad late_loads[MAX_LATE_LOADS]  # by number of the access

    @cython.final
    cdef void stall(self, IntervalBlock* plan, uint32_t instruction, uint32_t cause, int64_t until) noexcept nogil
    @cython.final
    cdef void late_code(self, IntervalBlock* plan, uint64_t line, const LruLine* found, bint translated) noexcept nogil
    @cython.final
    cdef void use_lines(self, IntervalBlock* plan, uint32_t number, uint64_t line, uint64_t last) noexcept nogil
    @cython.final
    cdef void follow_late(self, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef void bypass_lines(self, IntervalBlock* plan, uint32_t number, uint64_t line, uint64_t last) noexcept nogil
    @cython.final
    cdef void late_line(self, IntervalBlock* plan, uint32_t number, uint64_t line, LruLine* found,
                        bint translated) noexcept nogil
    @cython.final
    cdef void record_miss(self, IntervalBlock* plan, const IntervalAccess* access, const HierarchyAccess* served,
                        int64_t began) noexcept nogil
    @cython.final
    cdef void notify_fetch(self, IntervalBlock* plan, uint64_t line, const LruLine* found, bint translated, bint walked,
                        const HierarchyAccess* served, int64_t began) noexcept nogil
    @cython.final
    cdef void notify_access(self, IntervalBlock* plan, const IntervalAccess* access, uint64_t line,
                            const LruLine* found,
                        bint translated,
                        bint walked, const HierarchyAccess* served, int64_t began) noexcept nogil
    @cython.final
    cdef void late_load(self, IntervalBlock* plan, uint32_t number, const HierarchyAccess* served,
                        bint translated) noexcept nogil
    @cython.final
    cdef void record_last_level(self, IntervalBlock* plan, uint32_t instruction,
                                const HierarchyAccess* served) noexcept nogil
    @cython.final
    cdef void follow_branch(self, IntervalBlock* plan, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef void wrong_direction(self, IntervalBlock* plan, bint taken, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef void mispredicted(self, IntervalBlock* plan, bint taken) noexcept nogil
    @cython.final
    cdef void code_response(self, IntervalBlock* plan, uint64_t line, const LruLine* found, bint translated) noexcept nogil
    @cython.final
    cdef void access_response(self, IntervalBlock* plan, uint32_t number, uint64_t line, LruLine* found,
                              bint translated) noexcept nogil
    @cython.final
    cdef void note_late_load(self, uint32_t number, const HierarchyAccess* served, bint pending, int64_t waits,
                             bint walked) noexcept nogil
    @cython.final
    cdef void report_loads(self, IntervalBlock* plan, const uint64_t* addresses) noexcept nogil
    @cython.final
    cdef void store_response(self, IntervalBlock* plan, uint32_t number, uint64_t address, uint64_t end, const RecentStore* store) noexcept nogil
    @cython.final
    cdef void schedule(self, IntervalBlock* plan, uint64_t word) noexcept nogil
    @cython.final
    cdef void report_cycles(self, IntervalBlock* plan, uint64_t word) noexcept nogil
    @cython.final
    cdef uint32_t code_source(self, IntervalBlock* plan) noexcept nogil
    @cython.final
    cdef void follow_loop(self, IntervalBlock* plan, uint64_t next_ip) noexcept nogil
