"""Event counts of a block's instructions: see event_tallies.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.machine._outoforder cimport (
    BEHIND, CoreBlock, CycleAccounting, CycleDelay, DELAY_CAUSE, DELAY_CAUSES, TICK_KINDS, WITHOUT_CYCLE)


cdef class CycleListener:
    """Listener for every cycle: counters with a condition on a cycle's increment."""

    cdef public CycleListener following  # another listener for the same cycles

    # An instruction dispatched in the current cycle.
    cdef void dispatched(self, uint64_t block, uint32_t instruction, uint64_t word) noexcept nogil
    # An event of an instruction in it.
    cdef void add_occurrence(self, uint64_t block, uint32_t instruction, uint32_t occurrence,
                             uint64_t times) noexcept nogil
    # Ends the cycle; returns the counters that count it, as bits. `occurrence`: the occurrence of counter 0.
    cdef uint64_t end_cycle(self) noexcept nogil
    # A cycle without dispatches and events.
    cdef uint64_t idle_cycle(self) noexcept nogil
    cdef uint32_t occurrence(self) noexcept nogil


cdef enum EventTally:            # kinds of counts of an instruction: occurrences, then causes of stalls
    TALLY_L1D_READ_MISS = 0
    TALLY_L1D_WRITE_MISS
    TALLY_L1I_MISS
    TALLY_LOAD_WALK
    TALLY_STORE_WALK
    TALLY_ITLB_MISS
    TALLY_LLC_REFERENCE
    TALLY_LLC_MISS
    TALLY_MISPREDICTED           # + BranchClass
    TALLY_MISPREDICTED_JUMP = TALLY_MISPREDICTED + CLASS_JUMP
    TALLY_LOAD_MISS_CYCLE
    TALLY_OCCURRENCES
    TALLY_STALL = TALLY_OCCURRENCES      # + StallCause

cpdef enum StallCause:           # causes of cycles without dispatch: those of scheduler.pxd, DelayCause
    STALL_WINDOW_L2 = 0          # the window was full, and its oldest instruction waited for L2,
    STALL_WINDOW_L3              # ... for L3,
    STALL_WINDOW_MEMORY          # ... for memory
    STALL_DTLB                   # ... for a translation
    STALL_STORES                 # the store buffer was full
    STALL_BRANCH                 # mispredicted: from its dispatch until the right path dispatches
    STALL_REDIRECT               # a taken branch that missed the target buffer
    STALL_L1I                    # a line of instructions was in flight
    STALL_ITLB                   # a translation of instructions was in flight

cdef enum:
    TALLY_CYCLE = TALLY_STALL + DELAY_CAUSES     # it retired, the first one in a cycle
    TALLIES

@cython.final
cdef class EventTallies:
    """Event counts, until they are written to the records; or at once, with an observer."""

    cdef Records records
    cdef IntervalBlock* listed   # plans with counts to be written
    cdef bint shown              # records are observed: write at once
    cdef CycleListener listener  # listener for every cycle, in the event set in force; None: there is none
    cdef bint detailed           # either of these
    cdef bint executions         # events that follow from executions are counted
    cdef uint64_t missed[4]      # instructions of the current run that load, but not from L1D: bits
    cdef bint lost
    cdef EventLog event_log
    cdef IntervalBlock* open_plan        # the instruction that retired in the current cycle first; NULL: none did
    cdef uint32_t open_instruction

    cdef void add(self, IntervalBlock* plan, uint32_t instruction, uint32_t kind, uint64_t times) noexcept nogil
    cdef void put(self, IntervalBlock* plan, uint32_t instruction, uint32_t kind, uint64_t times) noexcept nogil
    cdef void add_event(self, IntervalBlock* plan, uint32_t instruction, uint32_t event, uint64_t times) noexcept nogil
    cdef void put_event(self, IntervalBlock* plan, uint32_t instruction, uint32_t event, uint64_t times) noexcept nogil
    cdef void report_core_event(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction, uint32_t event,
                                uint64_t times) noexcept nogil
    cdef void count_execution(self, IntervalBlocks plans, IntervalBlock* plan) noexcept nogil
    cdef void add_executions(self, IntervalBlocks plans, IntervalBlock* plan) noexcept nogil
    cdef void write_events(self, IntervalBlock* plan) noexcept nogil
    cdef void record_at(self, IntervalBlock* plan, uint32_t instruction, uint32_t kind, uint64_t times) noexcept nogil
    cdef void count(self, uint32_t part, uint64_t times) noexcept nogil
    cdef void write_ticks(self, CycleAccounting accounting, IntervalBlocks plans) noexcept nogil
    cdef void close_cycle(self, CycleListener listener) noexcept nogil
    cdef void report_idle(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction,
                          uint64_t times) noexcept nogil
    cdef void report_schedule(self, IntervalBlock* plan, const CycleDelay* delays, uint32_t count, uint64_t word) noexcept nogil
    cdef void report_delayed(self, CycleListener listener, IntervalBlock* plan, const CycleDelay* delays, uint32_t count,
                             uint64_t word) noexcept nogil
    cdef void write_groups(self, IntervalBlock* plan, uint32_t taken, uint32_t width, uint64_t times) noexcept nogil
    cdef void write_out(self, uint32_t width) noexcept nogil
    cdef void report_dispatch(self, CycleListener listener, IntervalBlock* plan, uint32_t taken, uint32_t width,
                             uint64_t word) noexcept nogil
    cdef void report_event(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction, uint32_t kind,
                          uint64_t times) noexcept nogil
    cdef void end_cycle(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction) noexcept nogil
    cdef void counted(self, IntervalBlock* plan, uint32_t instruction, uint32_t occurrence, uint64_t counting,
                      uint64_t times) noexcept nogil
    cdef void record_part(self, IntervalBlock* plan, uint32_t instruction, uint32_t occurrence,
                          uint64_t times) noexcept nogil


cdef inline void list_plan(EventTallies tallies, IntervalBlock* plan) noexcept nogil:
    """Lists a plan with counts to be written."""
    plan.listed, counts_of(plan).next = True, tallies.listed
    tallies.listed = plan


cdef inline void tally_dispatch(EventTallies tallies, IntervalBlock* plan, uint32_t taken, uint32_t width,
                                uint64_t word) noexcept nogil:
    """Counts a dispatch of the block, beginning in a group with so many filled slots."""
    if tallies.detailed:
        if tallies.listener is not None:
            tallies.report_dispatch(tallies.listener, plan, taken, width, word)
        if tallies.shown:
            tallies.write_groups(plan, taken, width, 1)
            return
    if not plan.listed:
        list_plan(tallies, plan)
    counts_of(plan).runs[taken] += 1


cdef inline void tally(EventTallies tallies, IntervalBlock* plan, uint32_t instruction, uint32_t kind,
                       uint64_t times) noexcept nogil:
    """Counts so many events, or stall cycles, of a kind at an instruction."""
    if tallies.detailed or plan.tallies == NULL:
        tallies.add(plan, instruction, kind, times)
        return
    if not plan.listed:
        list_plan(tallies, plan)
    plan.tallies[instruction * TALLIES + kind] += times
