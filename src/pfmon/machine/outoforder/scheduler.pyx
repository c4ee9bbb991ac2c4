"""The schedule of a block on an out-of-order core: when its instructions dispatch, execute and retire.

Instructions dispatch in order, `width` µops in a cycle, as long as the front end has decoded them and the buffers have room.
A µop starts when its operands are ready and the least loaded of its ports is free, and its result is ready after its latency. A load
takes L1D's latency, unless memory responds otherwise (`Response`). Instructions retire in order; a cycle in which none
retires belongs to the one that retires next, and has a cause. A branch is resolved when its operands are ready; after
a misprediction dispatch goes on `mispredict` cycles later.

Line fill buffers, the bus and page walkers are units as ports are: a line occupies the fill buffers for its latency divided by their
number. All times are cycles from the beginning of the block.
"""

cimport cython


cdef enum:
    LATE_REACH = 128             # cycles by which a µop may be behind others that waited for their operands
    SHORT_WAIT = 2               # cycles of a µop in the reservation station that do not count


cdef struct Progress:            # of a block's schedule
    int32_t cycle                # of dispatch
    int32_t slot                 # µops that dispatched in it
    int32_t retired              # cycle of the last retirement
    int32_t committed            # cycle in which the last store was in L1D
    int32_t base                 # cycles that were taken from all times
    uint32_t waited              # DelayCause of the last delay of dispatch
    uint32_t response            # number of the next response
    int32_t executed             # cycle in which the last of an instruction's µops started
    int32_t bytes                # of a string instruction


cdef struct LoadTime:
    int32_t start                # when memory gets the request
    int32_t requested            # when a line fill buffer is free for it
    int32_t ready
    uint32_t cause               # DelayCause


cdef inline int32_t take_port(int16_t* ports, const CoreUop* uop, int32_t cycle, int32_t ready) noexcept nogil:
    """Queues a µop at the least loaded of its ports; returns the cycle in which it starts, not before ``ready``. Those
    that wait for their operands for longer than for the port start one after the other."""
    cdef uint32_t best = uop.port[0], i
    cdef int32_t idle
    for i in range(1, uop.count):
        if ports[uop.port[i]] < ports[best]:
            best = uop.port[i]
    idle = max(<int32_t>ports[best], cycle)
    ports[best] = <int16_t>(idle + uop.busy)
    if ready <= idle:
        return idle
    if best < LATE_PORTS:
        if ports[CORE_PORTS + best] > ready and ports[CORE_PORTS + best] - ready <= LATE_REACH:
            ready = ports[CORE_PORTS + best]
        if ports[CORE_PORTS + best] <= ready:
            ports[CORE_PORTS + best] = <int16_t>(ready + uop.busy)
    return ready


cdef inline int32_t occupy(int16_t* ports, uint32_t port, int32_t cycles, int32_t cycle, int32_t ready) noexcept nogil:
    """Occupies a unit for some cycles; returns the cycle in which that begins."""
    cdef int32_t idle = max(<int32_t>ports[port], cycle)
    ports[port] = <int16_t>min(idle + cycles, <int32_t>LONGEST_QUEUE)
    return max(idle, ready)


cdef inline void wait_dispatch(Progress* at, int32_t cycle, uint32_t cause) noexcept nogil:
    """Delays dispatch until a cycle."""
    if cycle > at.cycle:
        at.cycle, at.slot, at.waited = cycle, 0, cause


cdef inline void report_delay(Schedule* out, uint32_t instruction, uint32_t cause, int32_t cycles) noexcept nogil:
    cdef Delay* delay = &out.delay[out.delays]
    delay.instruction, delay.cause, delay.cycles = <uint8_t>instruction, <uint8_t>cause, <uint16_t>cycles
    out.delays += 1


cdef void wait_for_room(const CoreFigures* figures, const CoreState* state, const CoreInstruction* one,
                        const CoreAccess* accesses, Progress* at) noexcept nogil:
    """Delays dispatch until the buffers have room for an instruction."""
    cdef uint32_t i
    cdef bint reads = False, writes = False
    for i in range(one.accesses):
        reads |= accesses[i].reads
        writes |= accesses[i].writes
    wait_dispatch(at, until_room(&state.buffers[REORDER_BUFFER], at.cycle), DELAY_BUFFER)
    if one.uops or one.accesses:
        wait_dispatch(at, until_room(&state.buffers[RESERVATION_STATION], at.cycle), DELAY_BUFFER)
    if reads:
        wait_dispatch(at, until_room(&state.buffers[LOAD_BUFFER], at.cycle), DELAY_BUFFER)
    if writes:
        wait_dispatch(at, until_room(&state.buffers[STORE_BUFFER], at.cycle), DELAY_STORES)


cdef void rebase(const CoreFigures* figures, CoreState* state, Progress* at) noexcept nogil:
    """Makes the times of a very long block relative to the current cycle of dispatch."""
    state.retired, state.committed = <int16_t>at.retired, <int16_t>at.committed
    advance(state, at.cycle, figures.buffers)
    at.base += at.cycle
    at.retired, at.committed, at.cycle = state.retired, state.committed, 0


cdef void respond_to_load(const CoreFigures* figures, CoreState* state, const CoreInstruction* one,
                          const Response* response, Schedule* out, Progress* at, LoadTime* time) noexcept nogil:
    """Delays a load by a response of memory."""
    cdef uint32_t kind = response.kind
    cdef int32_t start = time.start
    if kind <= RESPONSE_MEMORY:
        start = line_arrives(figures, state, kind, at.cycle, start, False)
        time.requested = start - figures.level[kind - RESPONSE_SECOND_LEVEL]
        time.ready = max(time.ready, start)
        out.arrives[response.access] = start + at.base
        time.cause = DELAY_L2 + kind - RESPONSE_SECOND_LEVEL
    elif kind == RESPONSE_IN_FLIGHT:
        time.ready = max(time.ready, response.value - at.base)
        time.cause = DELAY_MEMORY
    elif kind == RESPONSE_IN_FLIGHT_HERE:
        time.ready = max(time.ready, out.arrives[response.value] - at.base)
        time.cause = DELAY_MEMORY
    elif one.kind & CORE_LOCKED and kind >= RESPONSE_FORWARDED and kind <= RESPONSE_ALIASED:
        return                           # stores before it are committed first
    elif kind == RESPONSE_FORWARDED or kind == RESPONSE_FORWARDED_HERE:
        time.ready = response.value if kind == RESPONSE_FORWARDED else out.store[response.value].ready
        time.ready = max(start, time.ready - at.base) + one.forward
        time.cause = DELAY_FORWARD
    elif kind == RESPONSE_BLOCKED or kind == RESPONSE_BLOCKED_HERE:
        start = response.value if kind == RESPONSE_BLOCKED else out.store[response.value].committed
        time.ready = max(time.ready, start - at.base + figures.blocked)
        time.cause = DELAY_BLOCKED
    elif kind == RESPONSE_STRING:
        at.bytes = max(at.bytes, response.value)
    elif kind == RESPONSE_ALIASED:
        time.ready += figures.alias
        time.cause = DELAY_BLOCKED
    elif kind == RESPONSE_SPLIT:
        occupy(state.ports, figures.load.port[0], figures.split_busy, at.cycle, start)
        time.ready += figures.split
        time.cause = DELAY_SPLIT
    elif kind == RESPONSE_PAGE_SPLIT:
        occupy(state.ports, figures.load.port[0], figures.split_busy, at.cycle, start)
        time.ready += figures.page_split
        time.cause = DELAY_SPLIT
    elif kind == RESPONSE_TRANSLATION:
        time.start += figures.translation
        time.ready += figures.translation
        time.cause = DELAY_TRANSLATION
    elif kind == RESPONSE_WALK:
        time.start = occupy(state.ports, PORT_WALKER, figures.walker, at.cycle, start) + figures.walk
        time.ready = max(time.ready, time.start + one.load_latency)
        time.cause = DELAY_TRANSLATION
    elif kind == RESPONSE_BUS:
        transfer(figures, state, response.value, at.cycle)


cdef void transfer(const CoreFigures* figures, CoreState* state, int32_t lines, int32_t cycle) noexcept nogil:
    """Transfers lines that nothing waits for: those of memory in the upper half of ``lines``, those of L3 in the lower."""
    cdef int32_t bus = min(lines >> 16, <int32_t>MAX_TRANSFERS), ring = min(lines & 0xFFFF, <int32_t>MAX_TRANSFERS)
    if bus and state.ports[PORT_BUS] < LONGEST_LAG:
        occupy(state.ports, PORT_BUS, bus * figures.bus, cycle, cycle)
    if ring and state.ports[PORT_RING] < LONGEST_LAG:
        occupy(state.ports, PORT_RING, ring * figures.ring, cycle, cycle)


cdef int32_t line_arrives(const CoreFigures* figures, CoreState* state, uint32_t kind, int32_t cycle, int32_t start,
                          bint writes) noexcept nogil:
    """Returns when a line arrives that is requested in a cycle, by the level that has it; of a line that is written the
    one which it replaces goes back to L2."""
    cdef uint32_t level = kind - RESPONSE_SECOND_LEVEL
    start = occupy(state.ports, PORT_FILL, figures.fill[level] + writes, cycle, start)
    if kind != RESPONSE_SECOND_LEVEL:
        start = occupy(state.ports, PORT_RING, figures.ring, cycle, start)
    if kind == RESPONSE_MEMORY:
        start = occupy(state.ports, PORT_BUS, figures.bus, cycle, start)
    return start + figures.level[level]


cdef inline LoadTime load(const CoreFigures* figures, CoreState* state, const CoreInstruction* one, uint32_t number,
                          int32_t address, const Response* responses, uint32_t response_count, Schedule* out,
                          Progress* at) noexcept nogil:
    """Executes a load whose address is ready; returns when its data is. A prefetch lets loads pass."""
    cdef int32_t start = take_port(state.ports, &figures.load, at.cycle, at.cycle if one.kind & CORE_PREFETCH else address)
    cdef LoadTime time
    start = max(start, address)
    at.executed = max(at.executed, start)
    time.start, time.requested, time.ready, time.cause = start, start, start + one.load_latency, DELAY_L1
    while at.response < response_count and responses[at.response].access == number:
        respond_to_load(figures, state, one, &responses[at.response], out, at, &time)
        at.response += 1
    if one.kind & CORE_PREFETCH:         # it waits for a line fill buffer, not for the line
        time.ready = max(start, time.requested)
    return time


cdef int32_t respond_to_store(const CoreFigures* figures, CoreState* state, int32_t known, const Response* response,
                              StoreTimes* times, Schedule* out, Progress* at) noexcept nogil:
    """Returns when the line of a store is in L1D, by a response of memory; ``known``: the cycle of its address."""
    cdef uint32_t kind = response.kind
    if kind <= RESPONSE_MEMORY:
        known = line_arrives(figures, state, kind, at.cycle, known, True)
        out.arrives[response.access] = known + at.base
        return known
    if kind == RESPONSE_IN_FLIGHT_HERE:
        return out.arrives[response.value] - at.base
    if kind == RESPONSE_IN_FLIGHT:
        return response.value - at.base
    if kind == RESPONSE_WALK:
        return occupy(state.ports, PORT_WALKER, figures.walker, at.cycle, known) + figures.walk
    if kind == RESPONSE_BUS:
        transfer(figures, state, response.value, at.cycle)
    elif kind == RESPONSE_STRING:
        at.bytes = max(at.bytes, response.value)
    elif kind == RESPONSE_TRANSLATION:
        return known + figures.translation
    elif kind == RESPONSE_SPLIT or kind == RESPONSE_PAGE_SPLIT:
        times.commits += figures.store_split if kind == RESPONSE_SPLIT else figures.store_page_split
    return known


cdef inline void store(const CoreFigures* figures, CoreState* state, const CoreInstruction* one, uint32_t number,
                       int32_t address, int32_t data, const Response* responses, uint32_t response_count,
                       Schedule* out, Progress* at) noexcept nogil:
    """Executes a store; its commit follows when it has retired (`commit`)."""
    cdef int32_t known = take_port(state.ports, &figures.store_address[one.indexed], at.cycle, address)
    cdef int32_t ready = max(known, take_port(state.ports, &figures.store_data, at.cycle, data))
    cdef int32_t arrives = 0
    at.executed = max(at.executed, ready)
    out.store[number].commits = 1
    while at.response < response_count and responses[at.response].access == number:
        arrives = max(arrives, respond_to_store(figures, state, known, &responses[at.response],
                                                &out.store[number], out, at))
        at.response += 1
    out.store[number].ready = ready + at.base
    out.store[number].committed = arrives + at.base


cdef inline void commit(const CoreFigures* figures, CoreState* state, uint32_t first, uint32_t count,
                        const CoreAccess* accesses, Schedule* out, Progress* at) noexcept nogil:
    """Commits the stores of an instruction that has retired, in order."""
    cdef uint32_t i
    cdef StoreTimes* times
    for i in range(count):
        if accesses[i].writes:
            times = &out.store[first + i]
            at.committed = max(max(at.committed + 1, at.retired), times.committed - at.base) + times.commits - 1
            times.committed = at.committed + at.base
            enter(&state.buffers[STORE_BUFFER], &figures.buffers[STORE_BUFFER], at.cycle, at.committed, 1)


cdef inline void retire(const CoreFigures* figures, CoreState* state, const CoreInstruction* one, uint32_t number,
                        int32_t done, uint32_t cause, Schedule* out, Progress* at) noexcept nogil:
    """Retires an instruction that is done in a cycle."""
    cdef int32_t gap = done - at.retired
    if gap > 0:
        if done <= at.cycle + 1:
            cause = at.waited
        report_delay(out, number, cause, gap - 1)
        at.retired, at.waited = done, DELAY_DISPATCH
    enter(&state.buffers[REORDER_BUFFER], &figures.buffers[REORDER_BUFFER], at.cycle, at.retired, one.slots)
    if at.executed > at.cycle + SHORT_WAIT:
        enter(&state.buffers[RESERVATION_STATION], &figures.buffers[RESERVATION_STATION], at.cycle, at.executed,
              max(one.uops + one.accesses, 1))


cdef void begin_alone(const CoreFigures* figures, const CoreInstruction* one, Progress* at) noexcept nogil:
    """Begins an instruction that does not dispatch beside others, or waits for those before it."""
    if at.slot:
        at.cycle, at.slot = at.cycle + 1, 0
    if one.kind & CORE_SERIALIZING:
        wait_dispatch(at, at.retired, DELAY_SERIALIZE)
    if one.kind & CORE_FENCES_STORES:
        wait_dispatch(at, max(at.retired, at.committed), DELAY_SERIALIZE)


cdef inline void decode(const CoreFigures* figures, CoreState* state, const Response* responses,
                        uint32_t response_count, Progress* at, int32_t* decoded) noexcept nogil:
    """Begins a block when the front end has it."""
    cdef int32_t begin = state.front_end
    while at.response < response_count and responses[at.response].kind >= RESPONSE_FETCH \
            and responses[at.response].kind <= RESPONSE_FETCH_TRANSLATION:
        begin += QUARTER * responses[at.response].value
        state.front_cause = DELAY_FETCH + responses[at.response].kind - RESPONSE_FETCH
        at.response += 1
    if begin > 0:
        wait_dispatch(at, (begin + QUARTER - 1) // QUARTER, state.front_cause)
    decoded[0] = begin


cdef void schedule_block(const CoreFigures* figures, CoreState* state, const CoreBlock* block,
                         const Response* responses, uint32_t response_count, uint32_t end,
                         Schedule* out) noexcept nogil:
    """Schedules a block from a state, and leaves the state after it."""
    cdef const CoreInstruction* one
    cdef const CoreAccess* accesses = core_accesses_of(block)
    cdef int16_t* registers = state.registers
    cdef Progress at
    cdef LoadTime time
    cdef uint32_t i, k, cause
    cdef int32_t operands, address, data, start, done, first, decoded
    at.cycle, at.slot, at.retired, at.committed, at.base = 0, state.slot, state.retired, state.committed, 0
    at.waited, at.response, at.bytes = DELAY_DISPATCH, 0, 0
    out.delays = 0
    decode(figures, state, responses, response_count, &at, &decoded)
    for i in range(block.length):
        one = &instructions_of(block)[i]
        at.executed = 0
        if at.slot >= figures.width:
            at.cycle, at.slot = at.cycle + 1, at.slot - figures.width
            while at.slot >= figures.width:
                at.cycle, at.slot = at.cycle + 1, at.slot - figures.width
        if at.retired - at.cycle > LONGEST_LAG:
            wait_dispatch(&at, at.retired - LONGEST_LAG, DELAY_BUFFER)
        if at.cycle > LONGEST_BLOCK:
            rebase(figures, state, &at)
        if one.kind & (CORE_SERIALIZING | CORE_FENCES_STORES | CORE_MICROCODED):
            begin_alone(figures, one, &at)
        if has_occupants(state):
            wait_for_room(figures, state, one, accesses + one.first_access, &at)
        if one.kind & CORE_PARTIAL_FLAGS:
            wait_dispatch(&at, at.cycle + figures.partial_flags, DELAY_LATENCY)
        # operands
        operands = at.cycle
        for k in range(one.sources):
            operands = max(operands, <int32_t>registers[one.source[k]])
        data, cause = operands, DELAY_LATENCY
        # loads
        if one.accesses:
            address = max(max(<int32_t>registers[one.address[0]], <int32_t>registers[one.address[1]]), at.cycle)
            for k in range(one.accesses):
                if accesses[one.first_access + k].reads:
                    time = load(figures, state, one, one.first_access + k, address, responses, response_count, out,
                                &at)
                    if time.ready > data:
                        data, cause = time.ready, time.cause
        # execution
        if one.kind & CORE_LOCKED:
            data = occupy(state.ports, PORT_LOCK, figures.lock, at.cycle, data - one.load_latency)
            cause = DELAY_LOCK
        done = data + max(<int32_t>one.latency, <int32_t>one.busy) if one.kind & CORE_SERIALIZING else data + one.latency
        if one.uops:
            first = take_port(state.ports, &uops_of(block)[one.first_uop], at.cycle, data)
            if one.divider:
                first = occupy(state.ports, PORT_DIVIDER, one.divider, at.cycle, first)
            done = max(done, first + one.latency)
            at.executed = max(at.executed, first)
            for k in range(1, one.uops):
                start = take_port(state.ports, &uops_of(block)[one.first_uop + k], at.cycle, data)
                at.executed = max(at.executed, start)
                done = max(done, start + 1)
            if first > data and first - data >= one.latency:
                cause = DELAY_DIVIDER if one.divider else DELAY_PORT
        if one.kind & CORE_LOCKED:
            done = max(done, data + figures.lock)
        if one.results:
            registers[one.result[0]] = <int16_t>done
            for k in range(1, one.results):
                registers[one.result[k]] = <int16_t>(done + one.latency2 - one.latency)
        # stores
        for k in range(one.accesses):
            if accesses[one.first_access + k].writes:
                store(figures, state, one, one.first_access + k, address, done, responses, response_count,
                      out, &at)
                done = max(done, out.store[one.first_access + k].ready - at.base + 1)
        at.slot += one.slots
        retire(figures, state, one, i, max(done, at.cycle + 1), cause, out, &at)
        if one.accesses:
            if accesses[one.first_access].reads:
                enter(&state.buffers[LOAD_BUFFER], &figures.buffers[LOAD_BUFFER], at.cycle, at.retired, 1)
            commit(figures, state, one.first_access, one.accesses, accesses + one.first_access, out, &at)
        if one.kind & (CORE_SERIALIZING | CORE_MICROCODED | CORE_FENCES_STORES):
            end_alone(figures, one, done, &at)
    finish_block(figures, state, block, end, done, decoded, out, &at)
    out.cycles = at.cycle + at.base
    state.registers[OTHER_FLAGS] = 0
    if not block.carries:
        state.registers[CARRY_FLAG] = 0
    advance(state, at.cycle, figures.buffers)
    if block.top:
        rotate_x87(state, block.top)


cdef void end_alone(const CoreFigures* figures, const CoreInstruction* one, int32_t done, Progress* at) noexcept nogil:
    """Ends an instruction beside which no others dispatch; those behind a serializing one wait until it is done."""
    at.cycle, at.slot = at.cycle + max((at.slot + figures.width - 1) // figures.width, <int32_t>one.busy), 0
    if one.kind & CORE_STRING:
        wait_dispatch(at, at.cycle + one.string_start + at.bytes * one.string_cycles // 64, DELAY_SERIALIZE)
        at.bytes = 0
    if one.kind & CORE_SERIALIZING:
        wait_dispatch(at, done, DELAY_SERIALIZE)


cdef inline void finish_block(const CoreFigures* figures, CoreState* state, const CoreBlock* block, uint32_t end,
                              int32_t done, int32_t decoded, Schedule* out, Progress* at) noexcept nogil:
    """Ends a block: with the branch's misprediction, and the front end's work."""
    cdef uint32_t last = block.length - 1
    cdef int32_t lead = -figures.lead, front
    while at.slot >= figures.width:
        at.cycle, at.slot = at.cycle + 1, at.slot - figures.width
    if end & END_MISPREDICTED:
        at.cycle, at.slot = max(at.cycle + 1, done + figures.mispredict), 0
        if at.cycle > at.retired:
            report_delay(out, last, DELAY_BRANCH | WITHOUT_CYCLE, at.cycle - at.retired)
            at.retired = at.cycle
        front = 0
        state.front_cause = DELAY_FRONT_END
    else:
        front = max(decoded - QUARTER * at.base, lead) + block.cost[end & END_TAKEN][end >> END_SOURCE_SHIFT]
        state.front_cause = DELAY_FRONT_END
        if at.cycle > at.retired:        # the last instruction dispatched for longer
            report_delay(out, last, at.waited | WITHOUT_CYCLE, at.cycle - at.retired)
            at.retired = at.cycle
        if end & END_REDIRECTED:
            front += QUARTER * figures.redirect
            state.front_cause = DELAY_REDIRECT
        front = max(front - QUARTER * at.cycle, lead)
    if front <= 0:
        state.front_cause = 0
    state.front_end = <int16_t>min(front, <int32_t>LONGEST_LAG)
    state.slot, state.retired, state.committed = <int16_t>at.slot, <int16_t>at.retired, <int16_t>at.committed


cdef void rotate_x87(CoreState* state, int32_t top) noexcept nogil:
    """Renames the x87 registers, whose numbers are relative to the top of the stack."""
    cdef int16_t before[8]
    cdef int32_t i
    for i in range(8):
        before[i] = state.registers[X87_REGISTER + i]
    for i in range(8):
        state.registers[X87_REGISTER + i] = before[(i + top) & 7]
