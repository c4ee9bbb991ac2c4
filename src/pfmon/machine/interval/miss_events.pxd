"""Miss events of a core: see miss_events.pyx."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine.interval.block_plans cimport BlockPlan, BlockPlans, Reached
from pfmon.machine.interval.flow_predictor cimport FlowPredictor
from pfmon.machine.interval.hierarchy cimport Hierarchy, Served
from pfmon.machine.interval.recency cimport Line, Rows
from pfmon.machine.interval.tallies cimport Tallies
from pfmon.machine.interval.translations cimport Translations
from pfmon.machine.interval.window cimport Window
from pfmon.machine.records cimport Records
from pfmon.machine.watch cimport Watch
from pfmon.stream.consumer cimport EventSetConsumer
from pfmon.stream.table cimport BlockTable


cdef class MissEvents(EventSetConsumer):
    cdef readonly Records records
    cdef readonly Hierarchy caches
    cdef readonly Translations translations
    cdef readonly FlowPredictor predictor
    cdef BlockPlans plans
    cdef Tallies tallies
    cdef Window window
    cdef int64_t now             # cycles so far
    cdef uint32_t width, taken   # instructions that dispatch in a cycle; filled slots of the current one
    cdef uint64_t line           # of L1I that was fetched last, + 1
    cdef uint32_t shift          # of a line of L1D
    cdef uint32_t page_lines     # log2 of the lines of L1I in a page
    cdef Rows l1d, l1i, dtlb, itlb   # of the caches and the first-level TLBs, used by every block
    cdef int64_t mispredict, redirect
    cdef int64_t window_cycles   # to fill the window
    cdef Watch watch             # in the event set in force; None: there is none
    cdef uint64_t address        # of the current access

    cdef void stall(self, BlockPlan* plan, uint32_t instruction, uint32_t cause, int64_t until) noexcept nogil
    cdef void late_code(self, BlockPlan* plan, uint64_t line, const Line* found, bint translated) noexcept nogil
    cdef void use_lines(self, BlockPlan* plan, uint32_t number, uint64_t line, uint64_t last) noexcept nogil
    cdef void late_line(self, BlockPlan* plan, uint32_t number, uint64_t line, Line* found,
                        bint translated) noexcept nogil
    cdef void note_miss(self, BlockPlan* plan, const Reached* access, const Served* served,
                        int64_t began) noexcept nogil
    cdef void tell_code(self, BlockPlan* plan, uint64_t line, const Line* found, bint translated, bint walked,
                        const Served* served, int64_t began) noexcept nogil
    cdef void tell_data(self, BlockPlan* plan, const Reached* access, uint64_t line, const Line* found, bint translated,
                        bint walked, const Served* served, int64_t began) noexcept nogil
    cdef void late_load(self, BlockPlan* plan, uint32_t number, const Served* served, bint translated) noexcept nogil
    cdef void note_last_level(self, BlockPlan* plan, uint32_t instruction, const Served* served) noexcept nogil
    cdef void follow_branch(self, BlockPlan* plan, uint64_t next_ip) noexcept nogil
    cdef void wrong_direction(self, BlockPlan* plan, bint taken, uint64_t next_ip) noexcept nogil
    cdef void mispredicted(self, BlockPlan* plan) noexcept nogil
