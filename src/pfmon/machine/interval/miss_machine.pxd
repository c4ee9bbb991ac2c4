"""Misses and mispredictions without time: see miss_machine.pyx."""

cimport cython
from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t

from pfmon.stream._stream cimport BlockTable, PathTable, RunCounter

cdef enum:
    USUAL_SHIFT = 6              # of a line of L1D
    MAX_MISS_EVENTS = 1 << 10    # of a path or block that a listener is told

cdef enum MissEventKind:
    DATA_EVENT = 0               # an access missed L1D or the first-level TLB
    FETCH_EVENT                  # a fetch missed L1I or the first-level TLB
    BRANCH_EVENT                 # a branch was mispredicted

cdef struct MissEvent:           # of a run of a plan, in program order
    uint64_t address             # of the line; of the branch
    uint16_t place               # number of the access, or of the block, in the plan
    uint8_t kind                 # MissEventKind
    uint8_t level                # CacheLevel that had the line
    uint8_t translation          # TranslationLevel
    uint8_t references, misses   # of the last-level cache


cdef class MissListener:
    """Listener for each run of a plan: a model of time."""

    # A plan ran. `addresses`: those of its accesses; `events`: what was irregular; all else hit in L1 and was
    # predicted.
    cdef void ran(self, const WordPlan* plan, uint64_t word, const uint64_t* addresses, const MissEvent* events,
                  uint32_t count) noexcept nogil


@cython.final
cdef class MissMachine(RunCounter):
    cdef readonly Records records
    cdef readonly CacheContents caches
    cdef readonly IntervalPredictor predictor
    cdef WordPlans plans
    cdef MissListener listener   # None: there is none
    cdef bint listening
    cdef uint64_t line           # of L1I that was fetched last, + 1
    cdef uint32_t line_shift     # of L1D
    cdef WordPlan* listed        # plans with misses to be written
    cdef uint64_t spare_row[MISS_KINDS]  # when there is no memory
    cdef EventLog event_log
    cdef const uint64_t* marks   # of the current word
    cdef uint64_t mark_count
    cdef uint64_t held_count     # words that wait for the next block; 0: none do
    cdef uint32_t event_count
    cdef MissEvent events[MAX_MISS_EVENTS]
    cdef uint64_t held[MAX_WORD_SPAN]

    cdef uint64_t read_marks(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef uint64_t run_words(self, const uint64_t* words, uint64_t count, uint64_t after) noexcept nogil
    cdef void run_held(self, uint64_t next_ip) noexcept nogil
    cdef void run_accesses(self, WordPlan* plan, const uint64_t* addresses) noexcept nogil
    cdef void run_rest(self, WordPlan* plan, const uint64_t* addresses, uint32_t first) noexcept nogil
    cdef void use_all(self, WordPlan* plan, const uint64_t* addresses, uint32_t first, uint32_t end) noexcept nogil
    cdef void run_in_order(self, WordPlan* plan, const uint64_t* addresses, uint32_t first) noexcept nogil
    cdef void run_marked(self, WordPlan* plan, const uint64_t* addresses, uint32_t first) noexcept nogil
    cdef void use_lines(self, WordPlan* plan, uint32_t number, uint64_t address, uint64_t size) noexcept nogil
    cdef void bypass_lines(self, WordPlan* plan, uint32_t number, uint64_t line, uint64_t last) noexcept nogil
    cdef void fetch_lines(self, WordPlan* plan, uint32_t block) noexcept nogil
    cdef void mispredicted(self, WordPlan* plan, const BranchStep* step) noexcept nogil
    cdef uint64_t* row_of(self, WordPlan* plan, uint32_t row) noexcept nogil
    cdef void note(self, uint8_t kind, uint32_t place, uint64_t address, const LineOutcome* outcome) noexcept nogil
    cdef void write_out(self) noexcept nogil
    cdef void write_plan(self, WordPlan* plan) noexcept nogil
    cdef void write_row(self, uint64_t* row, uint32_t block, uint32_t instruction, uint32_t last) noexcept nogil
