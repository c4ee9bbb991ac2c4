"""The schedule of a part of a block on an out-of-order core: when its instructions dispatch, execute and retire.

Instructions dispatch in order, `slot` ticks for each µop. An instruction starts when its operands are ready, and its result is ready
after its latency. A load takes L1D's latency, unless memory responds otherwise (`Response`). Instructions retire in order; the time
by which one retires later than the one before belongs to it, and has a cause.

All of this is sums and maxima, as in the dependence graphs of Fields, Rubin and Bodik (Focusing Processor Policies via Critical-Path
Prediction, ISCA 2001): a part's times follow from the longest path to them. So a part without responses has a graph of such paths from
the registers it reads to those it writes (part_graph.pyx), and is executed here only to make that.
"""

cimport cython


cdef struct LoadTime:
    int64_t start                # when memory gets the request
    int64_t requested            # when a line fill buffer is free for it
    int64_t ready
    uint32_t cause               # DelayCause


cdef inline int64_t occupy(CoreState* state, uint32_t unit, int64_t ticks, int64_t now, int64_t ready) noexcept nogil:
    """Occupies a unit for some time; returns when that begins."""
    cdef int64_t idle = max(state.epoch + state.ready[UNITS + unit], now)
    state.ready[UNITS + unit] = <int32_t>(idle + ticks - state.epoch)
    return max(idle, ready)


cdef inline void report_delay(BlockTimes* times, uint32_t instruction, uint32_t cause, int64_t ticks) noexcept nogil:
    cdef Delay* delay = &times.delay[times.delays]
    if times.delays < MAX_DELAYS:
        delay.instruction, delay.cause, delay.ticks = <uint8_t>instruction, <uint8_t>cause, ticks
        times.delays += 1


cdef inline void wait_dispatch(CoreState* state, BlockTimes* times, int64_t until, uint32_t cause) noexcept nogil:
    """Delays dispatch."""
    if until > state.dispatch:
        times.waited += until - state.dispatch
        state.dispatch, times.cause = until, cause


cdef void respond_to_load(const CoreFigures* figures, CoreState* state, const CoreInstruction* one,
                          const Response* response, BlockTimes* times, LoadTime* time) noexcept nogil:
    """Delays a load by a response of memory."""
    cdef uint32_t kind = response.kind, unit
    cdef int64_t start = time.start
    if kind <= RESPONSE_MEMORY:
        start = line_arrives(figures, state, kind, start, False)
        time.requested = start - figures.level[kind - RESPONSE_SECOND_LEVEL]
        time.ready = max(time.ready, start)
        times.line[response.access] = start
        time.cause = DELAY_L2 + kind - RESPONSE_SECOND_LEVEL
    elif kind == RESPONSE_IN_FLIGHT:
        time.ready = max(time.ready, times.began + response.value)
        time.cause = DELAY_MEMORY
    elif kind == RESPONSE_IN_FLIGHT_HERE:
        time.ready = max(time.ready, times.line[response.value])
        time.cause = DELAY_MEMORY
    elif one.kind & CORE_LOCKED and kind >= RESPONSE_FORWARDED and kind <= RESPONSE_ALIASED:
        return                           # stores before it are committed first
    elif kind == RESPONSE_FORWARDED or kind == RESPONSE_FORWARDED_HERE:
        time.ready = times.began + response.value if kind == RESPONSE_FORWARDED else times.store[response.value].ready
        time.ready = max(start + one.load_latency, time.ready + one.forward)
        time.cause = DELAY_FORWARD
    elif kind == RESPONSE_BLOCKED or kind == RESPONSE_BLOCKED_HERE:
        start = times.began + response.value if kind == RESPONSE_BLOCKED else times.store[response.value].committed
        time.ready = max(time.ready, start + figures.blocked)
        time.cause = DELAY_BLOCKED
    elif kind == RESPONSE_STRING:
        times.bytes = max(times.bytes, <int64_t>response.value)
    elif kind == RESPONSE_ALIASED:
        time.ready += figures.alias
        time.cause = DELAY_BLOCKED
    elif kind == RESPONSE_SPLIT or kind == RESPONSE_PAGE_SPLIT:
        for unit in range(figures.load_ports):
            occupy(state, figures.load_port[unit], figures.split_busy, state.dispatch, start)
        time.ready += figures.split if kind == RESPONSE_SPLIT else figures.page_split
        time.cause = DELAY_SPLIT
    elif kind == RESPONSE_TRANSLATION:
        time.start += figures.translation
        time.ready += figures.translation
        time.cause = DELAY_TRANSLATION
    elif kind == RESPONSE_WALK:
        time.start = occupy(state, UNIT_WALKER, figures.walker, state.dispatch, start) + figures.walk
        time.ready = max(time.ready, time.start + one.load_latency)
        time.cause = DELAY_TRANSLATION
    elif kind == RESPONSE_BUS:
        transfer(figures, state, response.value)
    elif kind == RESPONSE_SNOOP:
        times.line[response.access] += response.value
        time.ready = max(time.ready, times.line[response.access])
    elif kind == RESPONSE_OWNERSHIP:
        times.arrives = max(times.arrives, start + response.value)


cdef void transfer(const CoreFigures* figures, CoreState* state, int32_t lines) noexcept nogil:
    """Transfers lines that nothing waits for: those of memory in the upper half of ``lines``, those of L3 in the lower."""
    cdef int64_t bus = min(lines >> 16, <int32_t>MAX_TRANSFERS), ring = min(lines & 0xFFFF, <int32_t>MAX_TRANSFERS)
    if bus:
        occupy(state, UNIT_BUS, bus * figures.bus, state.dispatch, state.dispatch)
    if ring:
        occupy(state, UNIT_RING, ring * figures.ring, state.dispatch, state.dispatch)


cdef int64_t line_arrives(const CoreFigures* figures, CoreState* state, uint32_t kind, int64_t start,
                          bint writes) noexcept nogil:
    """Returns when a line arrives that is requested at ``start``, by the level that has it; of a line that is written the
    one which it replaces goes back to L2."""
    cdef uint32_t level = kind - RESPONSE_SECOND_LEVEL
    start = occupy(state, UNIT_FILL, figures.fill[level] + (figures.ticks if writes else 0), state.dispatch, start)
    if kind != RESPONSE_SECOND_LEVEL:
        start = occupy(state, UNIT_RING, figures.ring, state.dispatch, start)
    if kind == RESPONSE_MEMORY:
        start = occupy(state, UNIT_BUS, figures.bus, state.dispatch, start)
    return start + figures.level[level]


cdef inline LoadTime load(const CoreFigures* figures, CoreState* state, const CoreInstruction* one, uint32_t number,
                          int64_t address, const Response* responses, uint32_t response_count,
                          BlockTimes* times) noexcept nogil:
    """Executes a load whose address is ready; returns when its data is. A prefetch lets loads pass."""
    cdef LoadTime time
    times.executed = max(times.executed, address)
    time.start, time.requested, time.ready, time.cause = address, address, address + one.load_latency, DELAY_L1
    while times.response < response_count and responses[times.response].access == number:
        respond_to_load(figures, state, one, &responses[times.response], times, &time)
        times.response += 1
    if one.kind & CORE_PREFETCH:         # it waits for a line fill buffer, not for the line
        time.ready = max(address, time.requested)
    return time


cdef int64_t respond_to_store(const CoreFigures* figures, CoreState* state, int64_t known, const Response* response,
                              BlockTimes* times) noexcept nogil:
    """Returns when the line of a store is in L1D, by a response of memory; ``known``: its address is known."""
    cdef uint32_t kind = response.kind
    if kind <= RESPONSE_MEMORY:
        known = line_arrives(figures, state, kind, known, True)
        times.line[response.access] = known
        return known
    if kind == RESPONSE_IN_FLIGHT_HERE:
        return times.line[response.value]
    if kind == RESPONSE_IN_FLIGHT:
        return times.began + response.value
    if kind == RESPONSE_WALK:
        return occupy(state, UNIT_WALKER, figures.walker, state.dispatch, known) + figures.walk
    if kind == RESPONSE_SNOOP:
        times.line[response.access] += response.value
        return times.line[response.access]
    if kind == RESPONSE_BUS:
        transfer(figures, state, response.value)
    elif kind == RESPONSE_STRING:
        times.bytes = max(times.bytes, <int64_t>response.value)
    elif kind == RESPONSE_TRANSLATION:
        return known + figures.translation
    elif kind == RESPONSE_SPLIT or kind == RESPONSE_PAGE_SPLIT:
        times.commits += figures.store_split if kind == RESPONSE_SPLIT else figures.store_page_split
    return known


cdef inline int64_t store(const CoreFigures* figures, CoreState* state, uint32_t number, int64_t address, int64_t data,
                          const Response* responses, uint32_t response_count, BlockTimes* times) noexcept nogil:
    """Executes a store, which is committed when the part has retired; returns when its data can be forwarded."""
    cdef int64_t ready = max(address, data)
    times.executed = max(times.executed, ready)
    while times.response < response_count and responses[times.response].access == number:
        times.arrives = max(times.arrives, respond_to_store(figures, state, address, &responses[times.response], times))
        times.response += 1
    times.store[number].ready = ready
    return ready


cdef inline void retire(const CoreFigures* figures, CoreState* state, uint32_t number, int64_t slots, int64_t begin,
                        int64_t done, uint32_t cause, BlockTimes* times) noexcept nogil:
    """Retires an instruction that dispatched at ``begin``: as many µops in a cycle as dispatch."""
    slots *= figures.slot
    if done <= begin + figures.ticks:
        done, cause = begin + figures.ticks, times.cause
    if done < state.retired + slots:
        if slots:
            report_delay(times, number, DELAY_DISPATCH, slots)
        state.retired += slots
    elif done > state.retired:
        report_delay(times, number, cause, done - state.retired)
        state.retired = done
        times.cause, times.waited = DELAY_DISPATCH, 0


cdef void begin_alone(CoreState* state, const CoreInstruction* one, BlockTimes* times) noexcept nogil:
    """Begins an instruction that waits for those before it."""
    if one.kind & CORE_SERIALIZING:
        wait_dispatch(state, times, state.retired, DELAY_SERIALIZE)
    if one.kind & CORE_FENCES_STORES:
        wait_dispatch(state, times, max(state.retired, state.committed), DELAY_SERIALIZE)


cdef void end_alone(const CoreFigures* figures, CoreState* state, const CoreInstruction* one, int64_t done,
                    BlockTimes* times) noexcept nogil:
    """Ends an instruction beside which no others dispatch; those behind a serializing one wait until it is done."""
    cdef int64_t slots = (one.slots + figures.width - 1) // figures.width * figures.ticks
    state.dispatch += max(slots, <int64_t>one.busy)
    if one.kind & CORE_STRING:
        wait_dispatch(state, times, state.dispatch + one.string_start + times.bytes * one.string_cycles // 64,
                      DELAY_SERIALIZE)
        times.bytes = 0
    if one.kind & CORE_SERIALIZING:
        wait_dispatch(state, times, done, DELAY_SERIALIZE)


cdef inline int64_t waiting_uops(const CoreInstruction* one, const CoreAccess* accesses, int64_t data, int64_t address,
                                 int64_t short_wait) noexcept nogil:
    """Returns how many µops of an instruction wait for longer: loads for their address, others and stores for data."""
    cdef int64_t count = one.uops if data > short_wait else 0
    cdef uint32_t k
    for k in range(one.first_access, one.first_access + one.accesses):
        if data > short_wait and accesses[k].writes or address > short_wait and accesses[k].reads:
            count += 1
    return count


cdef void execute(const CoreFigures* figures, CoreState* state, const CoreBlock* block, const CorePart* part,
                  const Response* responses, uint32_t response_count, BlockTimes* times) noexcept nogil:
    """Executes a part of a block: registers, dispatch and retirement proceed; its ports and commits follow (core.pyx)."""
    cdef const CoreInstruction* one
    cdef const CoreAccess* accesses = core_accesses_of(block)
    cdef int32_t* ready = state.ready
    cdef int64_t epoch = state.epoch
    cdef int64_t begin, data, address, done
    cdef LoadTime time
    cdef uint32_t i, k, cause
    times.executed, times.waiting = NEVER, 0
    for i in range(part.first, part.end):
        one = &instructions_of(block)[i]
        if one.kind & (CORE_SERIALIZING | CORE_FENCES_STORES):
            begin_alone(state, one, times)
        if one.kind & CORE_PARTIAL_FLAGS:
            wait_dispatch(state, times, state.dispatch + figures.partial_flags, DELAY_LATENCY)
        begin = data = state.dispatch
        cause = DELAY_LATENCY
        for k in range(one.sources):
            data = max(data, epoch + ready[one.source[k]])
        address = begin
        if one.accesses:
            address = max(epoch + max(ready[one.address[0]], ready[one.address[1]]), begin)
        for k in range(one.first_access, one.first_access + one.accesses):
            if accesses[k].reads:
                time = load(figures, state, one, k, address, responses, response_count, times)
                if time.ready > data:
                    data, cause = time.ready, time.cause
        if one.kind & CORE_LOCKED:
            data = occupy(state, UNIT_LOCK, figures.lock, begin, data - one.load_latency)
            cause = DELAY_LOCK
        done = data + one.latency
        if one.uops:
            times.executed = max(times.executed, data)
        if one.kind & CORE_SERIALIZING:
            done = data + max(one.latency, <int32_t>one.busy)
        if one.kind & CORE_LOCKED:
            done = max(done, data + figures.lock)
        if one.results:
            ready[one.result[0]] = <int32_t>(done - epoch)
            for k in range(1, one.results):
                ready[one.result[k]] = <int32_t>(done - epoch) + one.latency2 - one.latency
        for k in range(one.first_access, one.first_access + one.accesses):
            if accesses[k].writes:
                done = max(done, store(figures, state, k, address, done, responses, response_count, times))
        times.dispatched[i], times.data[i], times.address[i], times.done[i] = begin, data, address, done
        if max(data, address) > begin + times.short_wait:
            times.waiting += waiting_uops(one, accesses, data - begin, address - begin, times.short_wait)
        if one.kind & (CORE_SERIALIZING | CORE_MICROCODED | CORE_FENCES_STORES):
            end_alone(figures, state, one, done, times)
        else:
            state.dispatch += one.slots * figures.slot
        retire(figures, state, i, one.slots, begin, done, cause, times)
        for k in range(one.first_access, one.first_access + one.accesses):
            if accesses[k].writes:       # it is committed then, if none before it is late (core.pyx)
                times.store[k].committed = max(state.committed, max(state.retired, times.arrives)) + figures.ticks
        times.resolved = done
