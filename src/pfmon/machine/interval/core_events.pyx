"""Events of instructions on an out-of-order core besides misses: what the levels that had their data, TLBs, the store buffer
and L2's requests come to. They are recorded in the responses to accesses and fetches (miss_events.pyx), at their
instruction; a fetch's at the first one of its block. Those of EVENT_EXECUTIONS follow from how often a block ran.
"""

from libc.stdint cimport uint8_t

from pfmon.machine._outoforder cimport CORE_MICROCODED, CoreInstruction, instructions_of

cdef enum:                       # bits by CoreEvent
    SNOOPED = 1 << EVENT_LOAD_SNOOP_MISS | 1 << EVENT_LOAD_SNOOP_HIT | 1 << EVENT_LOAD_SNOOP_HITM
    LEVELS = (1 << EVENT_LOAD_MEMORY + 1) - 1 | SNOOPED


cdef void record_request(MissEvents self, IntervalBlock* plan, uint32_t instruction, uint32_t event, uint32_t cycles,
                         const HierarchyAccess* served) noexcept nogil:
    """Records a line that missed L1, by the level that had it; ``event``, ``cycles``: those of L2, and of the time behind it."""
    cdef int64_t behind = served.ready - self.now - self.caches.l2_latency
    self.tallies.add_event(plan, instruction, event + served.level - LEVEL_L2, 1)
    if served.level == LEVEL_L2:
        return
    self.tallies.add_event(plan, instruction, cycles, <uint64_t>max(behind, 0))
    if event == EVENT_READ_L2 and served.misses:
        self.tallies.add_event(plan, instruction, EVENT_READ_MEMORY_CYCLE, <uint64_t>max(behind, 0))


cdef void record_traffic(MissEvents self, IntervalBlock* plan, uint32_t instruction, uint32_t hit,
                         const L2Traffic* before) noexcept nogil:
    """Records what a request led to in L2; ``hit``: the event of prefetches that hit, before those of L3's and of memory's."""
    cdef const L2Traffic* now = &self.caches.traffic
    self.tallies.add_event(plan, instruction, hit, now.prefetch_hits - before.prefetch_hits)
    self.tallies.add_event(plan, instruction, hit + 1, now.prefetch_l3 - before.prefetch_l3)
    self.tallies.add_event(plan, instruction, hit + 2, now.prefetch_memory - before.prefetch_memory)
    self.tallies.add_event(plan, instruction, EVENT_L2_DROPPED, now.dropped - before.dropped)
    self.tallies.add_event(plan, instruction, EVENT_L2_WRITTEN, now.written - before.written)


cdef void record_data_request(MissEvents self, IntervalBlock* plan, const IntervalAccess* access,
                              const HierarchyAccess* served, const L2Traffic* before) noexcept nogil:
    """Records a line of data that missed L1D."""
    cdef uint32_t instruction = access.instruction
    if access.reads and not access.locked:
        record_request(self, plan, instruction, EVENT_READ_L2, EVENT_READ_CYCLE, served)
        if served.level == LEVEL_L3 and served.snoop != SNOOP_NONE:
            note_outcome(self, plan, instruction, 1 << (EVENT_LOAD_SNOOP_MISS + served.snoop - SNOOP_MISS))
        else:
            note_outcome(self, plan, instruction, 1 << (EVENT_LOAD_L2 + served.level - LEVEL_L2))
    elif access.reads | access.writes:
        record_request(self, plan, instruction, EVENT_OWN_L2, EVENT_OWN_CYCLE, served)
    else:                                # a prefetch
        self.tallies.add_event(plan, instruction, EVENT_SOFTWARE_L2 + served.level - LEVEL_L2, 1)
    record_traffic(self, plan, instruction, EVENT_PREFETCH_HIT, before)


cdef void record_translation(MissEvents self, IntervalBlock* plan, const IntervalAccess* access, bint walked) noexcept nogil:
    """Records an access that missed the first-level TLB."""
    cdef uint32_t of_store = not access.reads
    if walked and access.reads | access.writes:          # not by a prefetch
        tally(self.tallies, plan, access.instruction, TALLY_LOAD_WALK + of_store, 1)
    if not self.recording or not access.reads | access.writes:
        return
    if not walked:
        self.tallies.add_event(plan, access.instruction, EVENT_LOAD_SECOND_TLB + of_store, 1)
        return
    self.tallies.add_event(plan, access.instruction, EVENT_LOAD_WALK_CYCLE + of_store, <uint64_t>self.translations.walk)
    note_outcome(self, plan, access.instruction, 1 << (EVENT_LOAD_WALKED + of_store))


cdef void record_code_translation(MissEvents self, IntervalBlock* plan, int64_t waits, bint walked) noexcept nogil:
    """Records a fetch that missed the first-level TLB, and waited so many cycles."""
    if walked:
        self.tallies.add_event(plan, 0, EVENT_FETCH_WALK_CYCLE, <uint64_t>waits)
    else:
        self.tallies.add_event(plan, 0, EVENT_FETCH_SECOND_TLB, 1)
    self.tallies.add_event(plan, 0, EVENT_FETCH_TRANSLATION_CYCLE, <uint64_t>waits)


cdef void note_split(MissEvents self, IntervalBlock* plan, const IntervalAccess* access) noexcept nogil:
    """Notes an access to two lines; not of a string instruction, whose elements are accesses of their own."""
    cdef uint64_t last = self.address + access.size - 1
    if last >> self.shift == self.address >> self.shift:
        return
    note_outcome(self, plan, access.instruction,
                 <uint32_t>access.reads << EVENT_LOAD_SPLIT | <uint32_t>access.writes << EVENT_STORE_SPLIT
                 | <uint32_t>access.locked << EVENT_LOCK_SPLIT
                 | <uint32_t>(access.reads and last >> PAGE_SHIFT != self.address >> PAGE_SHIFT) << EVENT_LOAD_PAGE_SPLIT)


cdef void note_outcome(MissEvents self, IntervalBlock* plan, uint32_t instruction, uint32_t events) noexcept nogil:
    """Notes events which an instruction has once, however many accesses it makes; bits by CoreEvent."""
    if self.outcome and self.outcome_of != instruction:
        record_outcome(self, plan)
    self.outcome_of = instruction
    self.outcome |= events


cdef void record_outcome(MissEvents self, IntervalBlock* plan) noexcept nogil:
    """Records the events that are noted; of the levels only the furthest."""
    cdef uint32_t events = self.outcome, event
    cdef uint64_t* missed = self.tallies.missed + (self.outcome_of >> 6)
    if events & LEVELS:
        missed[0] |= <uint64_t>1 << (self.outcome_of & 63)
        self.tallies.add_event(plan, self.outcome_of, furthest_level(events), 1)
    for event in range(EVENT_LOAD_WALKED, EVENT_LOAD_PAGE_SPLIT + 1):
        if events >> event & 1:
            self.tallies.add_event(plan, self.outcome_of, event, 1)
    self.outcome = 0


cdef void record_forwarded(MissEvents self, IntervalBlock* plan, uint32_t number) noexcept nogil:
    """Records a load of bytes that a store which is not in L1D yet wrote."""
    cdef const IntervalAccess* access = &accesses_of(plan)[number]
    if not access.locked:                # stores before it are committed first
        self.tallies.add_event(plan, access.instruction, EVENT_LOAD_FORWARDED, 1)


cdef uint32_t furthest_level(uint32_t events) noexcept nogil:
    """Returns the furthest one of the levels that had data of a load: memory, another core, L3, and so on."""
    cdef uint32_t event
    if events >> EVENT_LOAD_MEMORY & 1:
        return EVENT_LOAD_MEMORY
    event = EVENT_LOAD_SNOOP_HITM if events & SNOOPED else EVENT_LOAD_L3
    while not events >> event & 1:
        event -= 1
    return event


cdef void record_blocked(MissEvents self, IntervalBlock* plan) noexcept nogil:
    """Records the loads of a block that wait for stores which cannot forward, or seem to be to the same address."""
    cdef const Response* one
    cdef const IntervalAccess* access
    cdef uint32_t i
    for i in range(self.responses.count):
        one = &self.responses.response[i]
        access = &accesses_of(plan)[one.access]
        if access.locked:                # stores before it are committed first
            continue
        if one.kind == RESPONSE_BLOCKED or one.kind == RESPONSE_BLOCKED_HERE:
            self.tallies.add_event(plan, access.instruction, EVENT_LOAD_BLOCKED, 1)
        elif one.kind == RESPONSE_ALIASED:
            self.tallies.add_event(plan, access.instruction, EVENT_LOAD_ALIASED, 1)
    self.blocked = False


cdef void record_sources(MissEvents self, IntervalBlock* plan) noexcept nogil:
    """Records where the micro-operations of a block come from; microcode has a source of its own."""
    cdef uint32_t source = self.end >> END_SOURCE_SHIFT, i
    cdef const CoreInstruction* one
    if source == FROM_LOOP_BUFFER and self.loop_size == 0:       # a short loop, which branches once a cycle all the same
        source = FROM_DECODERS if self.code_windows is None else FROM_UOP_CACHE
    for i in range(plan.length):
        one = &instructions_of(plan.core)[i]
        if one.kind & CORE_MICROCODED == 0:
            self.tallies.add_event(plan, i, EVENT_DECODED_SLOT + source, one.slots)
        if source == FROM_DECODERS:
            self.tallies.add_event(plan, i, EVENT_DECODED_INSTRUCTION, 1)
    if source == FROM_DECODERS and self.source == FROM_UOP_CACHE:
        self.tallies.add_event(plan, 0, EVENT_CACHE_LEFT, 1)
    self.source = source


cdef void record_waits(MissEvents self, IntervalBlock* plan) noexcept nogil:
    """Records for how long the dispatch of the block that ran waited, at its first instruction."""
    cdef const BlockTimes* times = &self.core.times
    if (times.full | times.undelivered) == 0:
        return
    record_wait(self, plan, EVENT_FULL_CYCLE, times.full, self.ticks)
    record_wait(self, plan, EVENT_STORES_FULL_CYCLE, times.stores_full, self.ticks)
    record_wait(self, plan, EVENT_UNDELIVERED_SLOT, times.undelivered, self.ticks // self.width)
    if times.undelivered >= self.ticks:
        self.tallies.add_event(plan, 0, EVENT_UNDELIVERED_CYCLE, <uint64_t>(times.undelivered // self.ticks))


cdef inline void record_wait(MissEvents self, IntervalBlock* plan, uint32_t event, int64_t ticks, int64_t unit) noexcept nogil:
    """Records a wait in whole units, cycles or slots of dispatch."""
    cdef int64_t* rest = &self.wait_rests[event - EVENT_FULL_CYCLE]
    rest[0] += ticks
    if rest[0] >= unit:
        self.tallies.add_event(plan, 0, event, <uint64_t>(rest[0] // unit))
        rest[0] %= unit


cdef uint64_t loads_missed(IntervalBlock* plan, uint32_t instruction) noexcept nogil:
    """Returns how often an instruction did not load from L1D, of what is not written to the records."""
    cdef const uint64_t* events = counts_of(plan).events
    if events == NULL:
        return 0
    events += instruction * CORE_EVENTS
    return (events[EVENT_LOAD_IN_FLIGHT] + events[EVENT_LOAD_L2] + events[EVENT_LOAD_L3] + events[EVENT_LOAD_MEMORY]
            + events[EVENT_LOAD_SNOOP_MISS] + events[EVENT_LOAD_SNOOP_HIT] + events[EVENT_LOAD_SNOOP_HITM])


cdef uint32_t increment_of(const IntervalBlock* plan, uint32_t instruction, uint32_t kind, uint32_t event,
                           uint32_t ticks) noexcept nogil:
    """Returns what an execution of an instruction adds to an event; ``kind``: its Kind; ``event``: behind EVENT_LOAD_HIT;
    ``ticks``: of a cycle."""
    cdef const CoreInstruction* one = &instructions_of(plan.core)[instruction]
    if event == EVENT_SLOT:
        return one.slots
    if event == EVENT_UOP:
        return executed_uops(plan, one)
    if event == EVENT_DIVIDER_CYCLE:
        return one.divider // ticks
    if event == EVENT_INTEGER_DIVIDER_CYCLE:
        return 0 if kind & Kind.FLOAT else one.divider // ticks
    if event == EVENT_FUSED:
        return instruction > 0 and instruction + 1 == plan.length and one.slots == 0 and plan.condition != ALWAYS
    return one.slots if one.kind & CORE_MICROCODED else 0


cdef uint32_t executed_uops(const IntervalBlock* plan, const CoreInstruction* one) noexcept nogil:
    """Returns the µops of an instruction that execute: a load is one of them, a store two, its address and its data."""
    cdef uint32_t count = one.uops, k
    for k in range(one.accesses):
        count += core_accesses_of(plan.core)[one.first_access + k].reads
        count += 2 * core_accesses_of(plan.core)[one.first_access + k].writes
    return count
