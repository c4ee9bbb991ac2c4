"""Event counts by instruction: kept with the block's plan, and written to the machine's records (records.pyx) on
request; at once if the records have an observer.
"""

cimport cython
from libc.stdlib cimport calloc

from pfmon.stream._stream cimport BlockInstruction, Kind


cdef class CycleListener:
    """The base class of listeners for every cycle: it counts none."""

    cdef void dispatched(self, uint64_t block, uint32_t instruction, uint64_t word) noexcept nogil:
        pass

    cdef void add_occurrence(self, uint64_t block, uint32_t instruction, uint32_t occurrence,
                             uint64_t times) noexcept nogil:
        pass

    cdef uint64_t end_cycle(self) noexcept nogil:
        return 0

    cdef uint64_t idle_cycle(self) noexcept nogil:
        return 0

    cdef uint32_t occurrence(self) noexcept nogil:
        return 0


@cython.final
cdef class EventTallies:
    def __cinit__(self, Records records):
        self.records = records

    cdef void add(self, IntervalBlock* plan, uint32_t instruction, uint32_t kind, uint64_t times) noexcept nogil:
        """Counts so many events, or stall cycles, of a kind at an instruction."""
        if self.listener is not None:
            self.report_event(self.listener, plan, instruction, kind, times)
        self.put(plan, instruction, kind, times)

    cdef void put(self, IntervalBlock* plan, uint32_t instruction, uint32_t kind, uint64_t times) noexcept nogil:
        """Counts them without reporting them to listeners."""
        if self.shown:
            self.record_at(plan, instruction, kind, times)
            return
        if plan.tallies == NULL:
            plan.tallies = <uint64_t*>calloc(plan.length * TALLIES, sizeof(uint64_t))
            if plan.tallies == NULL:
                self.lost = True
                return
        if not plan.listed:
            list_plan(self, plan)
        plan.tallies[instruction * TALLIES + kind] += times

    # --- events of a core (core_events.pxd)

    cdef void add_event(self, IntervalBlock* plan, uint32_t instruction, uint32_t event, uint64_t times) noexcept nogil:
        """Counts so many events at an instruction; ``event``: CoreEvent."""
        if self.listener is not None:
            self.report_core_event(self.listener, plan, instruction, event, times)
        self.put_event(plan, instruction, event, times)

    cdef void report_core_event(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction, uint32_t event,
                                uint64_t times) noexcept nogil:
        """Reports events in the current cycle to the listeners for every cycle."""
        listener.add_occurrence(plan.number, instruction, CORE_LOAD_IN_FLIGHT + event, times)
        if listener.following is not None:
            self.report_core_event(listener.following, plan, instruction, event, times)

    cdef void put_event(self, IntervalBlock* plan, uint32_t instruction, uint32_t event, uint64_t times) noexcept nogil:
        """Counts them without reporting them to listeners."""
        cdef BlockCounts* counts = counts_of(plan)
        if times == 0:
            return
        if self.shown:
            self.record_part(plan, instruction, CORE_LOAD_IN_FLIGHT + event, times)
            return
        if counts.events == NULL:
            counts.events = <uint64_t*>calloc(plan.length * CORE_EVENTS, sizeof(uint64_t))
            if counts.events == NULL:
                self.lost = True
                return
        if not plan.listed:
            list_plan(self, plan)
        counts.events[instruction * CORE_EVENTS + event] += times

    cdef void count_execution(self, IntervalBlocks plans, IntervalBlock* plan) noexcept nogil:
        """Counts what follows from a run of a block."""
        counts_of(plan).ran += 1
        if not plan.listed:
            list_plan(self, plan)
        if self.detailed:
            self.add_executions(plans, plan)
            self.missed[0] = self.missed[1] = self.missed[2] = self.missed[3] = 0

    cdef void add_executions(self, IntervalBlocks plans, IntervalBlock* plan) noexcept nogil:
        """Counts what follows from a block's executions since the last time."""
        cdef BlockCounts* counts = counts_of(plan)
        cdef const BlockInstruction* instructions = plans.table.c.instructions + plans.table.c.heads[plan.number].first
        cdef uint64_t times = counts.ran - counts.seen, hits
        cdef uint32_t i, event
        counts.seen = counts.ran
        for i in range(plan.length if times and plan.core != NULL else 0):
            for event in range(EVENT_LOAD_HIT + 1, CORE_EVENTS):
                self.add_event(plan, i, event, times * increment_of(plan, i, instructions[i].kind, event, plans.cores.ticks))
            if instructions[i].kind & (Kind.LOAD | Kind.PREFETCH) == 0:
                continue
            if self.detailed:
                hits = times - (self.missed[i >> 6] >> (i & 63) & 1)
            else:
                hits = times - loads_missed(plan, i)
            self.add_event(plan, i, EVENT_LOAD_HIT, hits)

    cdef void write_events(self, IntervalBlock* plan) noexcept nogil:
        """Writes a block's events to the records."""
        cdef uint64_t* events = counts_of(plan).events
        cdef uint32_t i, event
        for i in range(plan.length):
            for event in range(CORE_EVENTS):
                if events[event]:
                    self.record_part(plan, i, CORE_LOAD_IN_FLIGHT + event, events[event])
                    events[event] = 0
            events += CORE_EVENTS

    # --- records

    cdef void record_at(self, IntervalBlock* plan, uint32_t instruction, uint32_t kind, uint64_t times) noexcept nogil:
        """Writes it to the records: a stall as bubbles, other events as a part without instructions."""
        if kind == TALLY_CYCLE:
            self.count(self.records.part(plan.number | <uint64_t>instruction << 32 | <uint64_t>instruction << 40, 1, 0,
                                         0, 0), times)
        elif kind >= TALLY_STALL:
            self.records.add_bubbles(plan.number, instruction, BUBBLE_BACK, WINDOW_L2 + kind - TALLY_STALL, times)
        else:
            self.record_part(plan, instruction, CORE_L1D_READ_MISS + kind, times)

    cdef void record_part(self, IntervalBlock* plan, uint32_t instruction, uint32_t occurrence,
                          uint64_t times) noexcept nogil:
        """Records an occurrence, as a part without instructions."""
        cdef uint32_t part
        self.event_log.context = <uint64_t>instruction << EVENT_INSTRUCTION_SHIFT
        record(&self.event_log, occurrence, 1)
        part = self.records.part(plan.number | <uint64_t>1 << 32 | <uint64_t>instruction << 48, 0, 0, 0,
                                 self.records.event_list(&self.event_log))
        self.count(part, times)

    cdef void count(self, uint32_t part, uint64_t times) noexcept nogil:
        """Counts so many cycles, or so many times a part's events."""
        cdef uint64_t* counts = self.records.part_counts
        counts[part] += times
        if self.records.logging:
            self.records.write_log(part, times)

    cdef void write_groups(self, IntervalBlock* plan, uint32_t taken, uint32_t width, uint64_t times) noexcept nogil:
        """Records so many dispatches of the block: each instruction that fills a group is one cycle."""
        cdef uint32_t i = width - 1 - taken, part
        while i < plan.length:
            part = self.records.part(plan.number | <uint64_t>i << 32 | <uint64_t>i << 40, 1, 0, 0, 0)
            self.count(part, times)
            i += width

    cdef void write_out(self, uint32_t width) noexcept nogil:
        """Writes all counts to the records of the event set in force."""
        cdef IntervalBlock* plan = self.listed
        cdef BlockCounts* counts
        cdef uint32_t i, kind
        cdef uint64_t* tally
        while plan != NULL:
            counts = counts_of(plan)
            for i in range(width):
                if counts.runs[i]:
                    self.write_groups(plan, i, width, counts.runs[i])
                    counts.runs[i] = 0
            for i in range(plan.length if plan.tallies != NULL else 0):
                tally = plan.tallies + i * TALLIES
                for kind in range(TALLIES):
                    if tally[kind]:
                        self.record_at(plan, i, kind, tally[kind])
                        tally[kind] = 0
            if counts.events != NULL:
                self.write_events(plan)
            plan.listed = False
            plan = counts.next
        self.listed = NULL

    # --- schedules of the core

    cdef void write_ticks(self, CycleAccounting accounting, IntervalBlocks plans) noexcept nogil:
        """Counts the cycles of blocks that are not recorded, by the instructions that retired in them or were waited for."""
        cdef CoreBlock* block = accounting.listed
        cdef IntervalBlock* plan
        cdef uint64_t* ticks
        cdef uint64_t cycles
        cdef uint32_t i, kind
        while block != NULL:
            accounting.gather(block)
            plan = block_of(plans, block.number)
            ticks = block.ticks
            for i in range(block.length if ticks != NULL else 0):
                for kind in range(TICK_KINDS):
                    cycles = accounting.whole_cycles(ticks[kind]) if ticks[kind] else 0
                    if cycles:
                        self.put(plan, i, TALLY_STALL + kind, cycles)
                    ticks[kind] = 0
                ticks += TICK_KINDS
            block.listed = False
            block = block.next
        accounting.listed = NULL
        plan = self.listed if self.executions else NULL
        while plan != NULL:
            self.add_executions(plans, plan)
            plan = counts_of(plan).next

    cdef void report_schedule(self, IntervalBlock* plan, const CycleDelay* delays, uint32_t count,
                              uint64_t word) noexcept nogil:
        """Counts a block's cycles at once, and reports them to the listeners for every cycle."""
        cdef uint32_t k, retired
        if self.listener is not None:
            self.report_delayed(self.listener, plan, delays, count, word)
        for k in range(count):
            retired = not delays[k].cause & WITHOUT_CYCLE
            if delays[k].cycles > retired:
                self.put(plan, delays[k].instruction, TALLY_STALL + (delays[k].cause & DELAY_CAUSE),
                         delays[k].cycles - retired)
            if retired:
                self.put(plan, delays[k].instruction, TALLY_CYCLE, 1)

    cdef void report_delayed(self, CycleListener listener, IntervalBlock* plan, const CycleDelay* delays, uint32_t count,
                             uint64_t word) noexcept nogil:
        """Reports a block's cycles: each instruction that retires later than the one before begins a cycle."""
        cdef IntervalBlock* open_plan = self.open_plan
        cdef uint32_t open_instruction = self.open_instruction, i, k = 0, retired
        for i in range(plan.length):
            while k < count and delays[k].instruction == i and not delays[k].cause & BEHIND:
                retired = not delays[k].cause & WITHOUT_CYCLE
                if open_plan != NULL:
                    self.counted(open_plan, open_instruction, listener.occurrence(), listener.end_cycle(), 1)
                self.report_idle(listener, plan, i, delays[k].cycles - retired)
                open_plan, open_instruction = plan if retired else NULL, i
                k += 1
            listener.dispatched(plan.number, i, word)
        if k < count:                    # behind the last one
            if open_plan != NULL:
                self.counted(open_plan, open_instruction, listener.occurrence(), listener.end_cycle(), 1)
            self.report_idle(listener, plan, plan.length - 1, delays[k].cycles)
            open_plan = NULL
        if listener.following is not None:
            self.report_delayed(listener.following, plan, delays, count, word)
        self.open_plan, self.open_instruction = open_plan, open_instruction

    cdef void close_cycle(self, CycleListener listener) noexcept nogil:
        """Ends the cycle in which the last instructions retired."""
        self.counted(self.open_plan, self.open_instruction, listener.occurrence(), listener.end_cycle(), 1)
        if listener.following is not None:
            self.close_cycle(listener.following)
        self.open_plan = NULL

    cdef void report_idle(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction,
                          uint64_t times) noexcept nogil:
        """Reports cycles in which nothing retired: all but the first are equal."""
        if times:
            self.counted(plan, instruction, listener.occurrence(), listener.idle_cycle(), 1)
        if times > 1:
            self.counted(plan, instruction, listener.occurrence(), listener.idle_cycle(), times - 1)

    # --- for listeners for every cycle

    cdef void report_dispatch(self, CycleListener listener, IntervalBlock* plan, uint32_t taken, uint32_t width,
                             uint64_t word) noexcept nogil:
        """Reports a dispatch of a block: each instruction that fills a group ends a cycle."""
        cdef uint32_t i, filled = taken
        for i in range(plan.length):
            listener.dispatched(plan.number, i, word)
            filled += 1
            if filled == width:
                filled = 0
                self.counted(plan, i, listener.occurrence(), listener.end_cycle(), 1)
        if listener.following is not None:
            self.report_dispatch(listener.following, plan, taken, width, word)

    cdef void report_event(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction, uint32_t kind,
                          uint64_t times) noexcept nogil:
        """Reports an event in the current cycle, or so many cycles without dispatch."""
        if kind < TALLY_STALL:
            listener.add_occurrence(plan.number, instruction, CORE_L1D_READ_MISS + kind, times)
        else:
            self.counted(plan, instruction, listener.occurrence(), listener.idle_cycle(), 1)
            if times > 1:                # all others are equal
                self.counted(plan, instruction, listener.occurrence(), listener.idle_cycle(), times - 1)
        if listener.following is not None:
            self.report_event(listener.following, plan, instruction, kind, times)

    cdef void end_cycle(self, CycleListener listener, IntervalBlock* plan, uint32_t instruction) noexcept nogil:
        """Ends the current cycle with a group that is not full."""
        self.counted(plan, instruction, listener.occurrence(), listener.end_cycle(), 1)
        if listener.following is not None:
            self.end_cycle(listener.following, plan, instruction)

    cdef void counted(self, IntervalBlock* plan, uint32_t instruction, uint32_t occurrence, uint64_t counting,
                      uint64_t times) noexcept nogil:
        """Records the cycles that counters count."""
        while counting:
            if counting & 1:
                self.record_part(plan, instruction, occurrence, times)
            counting >>= 1
            occurrence += 1
