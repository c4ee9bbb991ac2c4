"""An out-of-order machine: see interval_machine.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.interval.block_plans cimport BlockPlan, BlockPlans, Reached
from pfmon.machine.interval.cycle_watch cimport CycleWatch
from pfmon.machine.interval.flow_predictor cimport FlowPredictor
from pfmon.machine.interval.hierarchy cimport Hierarchy, Served
from pfmon.machine.interval.tallies cimport Tallies
from pfmon.machine.interval.translations cimport Translations
from pfmon.machine.interval.window cimport Window
from pfmon.machine.items cimport Items
from pfmon.machine.records cimport Records
from pfmon.stream.consumer cimport EventSetConsumer
from pfmon.stream.table cimport BlockTable

cdef enum:
    MOST_HELD = 2048             # words of a block, its addresses and its marks


cdef class IntervalMachine(EventSetConsumer):
    cdef readonly Records records
    cdef readonly Hierarchy caches
    cdef readonly Translations translations
    cdef readonly FlowPredictor predictor
    cdef BlockTable table
    cdef BlockPlans plans
    cdef Tallies tallies
    cdef Window window
    cdef Items items
    cdef list watches            # by event set: a CycleWatch, or None
    cdef bint watched            # there was one
    cdef int64_t now             # cycles so far
    cdef uint32_t width, taken   # instructions that dispatch in a cycle; slots that are taken of the one at hand
    cdef uint64_t line           # of L1I that was fetched last, + 1
    cdef uint32_t shift          # of a line
    cdef int64_t mispredict, redirect
    cdef uint64_t held[MOST_HELD]
    cdef uint64_t held_count     # words that wait for the next block; 0: none do
    cdef BlockPlan* ran          # the block that ran last
    cdef int64_t window_cycles   # that it takes to fill the window
    cdef uint32_t turn, event_set
    cdef bint due
    cdef uint64_t* cycles_of     # by event set
    cdef int64_t shared          # cycle up to which these are known
    cdef uint32_t event_sets
    cdef uint64_t reference, frequency

    cdef uint64_t read_marks(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void run_held(self, uint64_t next_ip) noexcept nogil
    cdef void show_items(self, const uint64_t* words, const uint64_t* marks, uint64_t mark_count) noexcept nogil
    cdef void fetch_line(self, BlockPlan* plan, uint64_t line) noexcept nogil
    cdef void follow_branch(self, BlockPlan* plan, uint64_t next_ip) noexcept nogil
    cdef void mispredicted(self, BlockPlan* plan) noexcept nogil
    cdef void change_event_set(self) noexcept nogil
    cdef void write_out(self) noexcept nogil
    cdef void fetch_lines(self, BlockPlan* plan) noexcept nogil
    cdef void make_accesses(self, BlockPlan* plan, uint32_t first, const uint64_t* addresses, const uint64_t* marks,
                            uint64_t mark_count) noexcept nogil
    cdef void run_whole(self, BlockPlan* plan, const uint64_t* words, const uint64_t* marks, uint64_t mark_count,
                        uint64_t next_ip) noexcept nogil
    cdef void wrong_direction(self, BlockPlan* plan, bint taken, uint64_t next_ip) noexcept nogil
    cdef void access(self, BlockPlan* plan, uint32_t number, uint64_t address, uint64_t size) noexcept nogil
    cdef void late_load(self, BlockPlan* plan, uint32_t number, const Served* served, bint translated) noexcept nogil
    cdef void note_access(self, BlockPlan* plan, const Reached* access, const Served* served, bint walked,
                          int64_t began) noexcept nogil
    cdef void note_last_level(self, BlockPlan* plan, uint32_t instruction, const Served* served) noexcept nogil
    cdef void show_last_group(self) noexcept nogil
    cdef int watch_cycles(self) except -1
    cdef void stall(self, BlockPlan* plan, uint32_t instruction, uint32_t cause, int64_t until) noexcept nogil
