"""The longest paths through a part of a block: from each register that it reads, and from its dispatch, to the registers and
stores that it writes and to its retirement.

They are found by execution (scheduler.pyx) with one source alone at 0 and all others before any time. So a part without responses
of memory is executed by a few sums and maxima, with the same result.
"""

cimport cython
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef struct GraphShape:          # while a graph is made
    uint32_t sources, results, stores, lines, sinks
    bint arrives
    uint8_t source[MAX_GRAPH_SOURCES]
    uint16_t to[MAX_SINKS]       # of `results`, then of stores, then of lines
    int32_t time[MAX_GRAPH_SOURCES + 1][MAX_SINKS]  # from dispatch, and from each source
    int32_t wait[MAX_GRAPH_SOURCES + 1][MAX_SINKS]  # of operands, if it has a pattern
    uint32_t waits
    uint8_t waiting[MAX_SINKS]   # µops: by operands of `wait`; without a pattern those that depend on a source


cdef void note_source(uint32_t place, uint64_t* known, GraphShape* shape) noexcept nogil:
    if place < NO_OPERAND and not known[0] >> place & 1:
        known[0] |= <uint64_t>1 << place
        if shape.sources < MAX_GRAPH_SOURCES:
            shape.source[shape.sources] = <uint8_t>place
        shape.sources += 1


cdef void note_sink(uint32_t to, uint32_t* count, GraphShape* shape) noexcept nogil:
    if shape.sinks < MAX_SINKS:
        shape.to[shape.sinks - SINKS] = <uint16_t>to
    count[0] += 1
    shape.sinks += 1


cdef void find_registers(const CoreBlock* block, const CorePart* part, GraphShape* shape) noexcept nogil:
    """Finds the registers that a part reads before it writes them, and those that it writes."""
    cdef uint64_t read = 0, written = 0
    cdef const CoreInstruction* one
    cdef uint32_t i, k
    for i in range(part.first, part.end):
        one = &instructions_of(block)[i]
        for k in range(one.sources):
            note_source(one.source[k], &read, shape)
        for k in range(2 if one.accesses else 0):
            note_source(one.address[k], &read, shape)
        for k in range(one.results):
            if one.result[k] < NO_OPERAND and not written >> one.result[k] & 1:
                written |= <uint64_t>1 << one.result[k]
                note_sink(one.result[k], &shape.results, shape)
        read |= written


cdef void find_units(const CoreState* state, GraphShape* shape) noexcept nogil:
    """Finds the units that responses occupy, after an execution."""
    cdef uint64_t known = 0
    cdef uint32_t i
    for i in range(UNITS, UNITS + CORE_UNITS):
        if state.ready[i] >= NEVER // 2:
            shape.source[min(shape.sources, MAX_GRAPH_SOURCES - 1)] = <uint8_t>i
            shape.sources += 1
            note_sink(i, &shape.results, shape)


cdef void find_lines(const CorePart* part, const Pattern* pattern, GraphShape* shape) noexcept nogil:
    """Finds the lines that responses bring, and the times that they give."""
    cdef uint32_t given = GIVEN, i
    cdef Response one
    for i in range(pattern.count):
        one = response_of(pattern.word[i])
        if one.kind <= RESPONSE_MEMORY:
            note_sink(one.access, &shape.lines, shape)
        if gives_time(part, &one):
            shape.source[min(shape.sources, MAX_GRAPH_SOURCES - 1)] = <uint8_t>given
            shape.sources += 1
            given += 1


cdef void probe(const CoreFigures* figures, const CoreBlock* block, const CorePart* part, const uint64_t* word,
                uint32_t count, uint32_t source, CoreState* state, BlockTimes* times) noexcept nogil:
    """Executes a part with one source at 0: a register, a unit, a time that a response gives; NO_OPERAND: its dispatch."""
    cdef Response given[MAX_PATTERN]
    cdef uint32_t place = GIVEN, i
    for i in range(CORE_TIMES):
        state.ready[i] = NEVER
    state.epoch, state.committed, state.dispatch = 0, NEVER, 0 if source == NO_OPERAND else NEVER
    if source != NO_OPERAND:
        state.ready[source] = 0
    for i in range(count):
        given[i] = response_of(word[i])
        if gives_time(part, &given[i]):
            given[i].kind, given[i].value = kind_with_value(given[i].kind), state.ready[place]
            place += 1
    times.began, times.response, times.delays, times.cause, times.waited, times.bytes = 0, 0, 0, DELAY_LATENCY, 0, 0
    times.arrives, times.commits = NEVER, 0
    times.short_wait = -NEVER // 2       # µops that wait for the source, not for others of the part
    execute(figures, state, block, part, given, count, times)


cdef uint8_t kind_with_value(uint8_t kind) noexcept nogil:
    """Returns the kind of response whose time is its value, instead of one of an access of the block."""
    if kind == RESPONSE_IN_FLIGHT_HERE:
        return RESPONSE_IN_FLIGHT
    if kind == RESPONSE_FORWARDED_HERE:
        return RESPONSE_FORWARDED
    return RESPONSE_BLOCKED if kind == RESPONSE_BLOCKED_HERE else kind


cdef inline int32_t known_time(int64_t time) noexcept nogil:
    """Returns a time after an execution; NEVER: it does not depend on the source."""
    return <int32_t>time if time >= NEVER // 2 else NEVER


cdef void put_times(const GraphShape* shape, int32_t* to, const CoreState* state, const BlockTimes* times) noexcept nogil:
    """Puts the times of the sinks after an execution."""
    cdef const uint16_t* place = shape.to
    cdef uint32_t k
    to[SINK_RETIRED], to[SINK_EXECUTED] = known_time(state.retired), known_time(times.executed)
    to[SINK_RESOLVED] = known_time(times.resolved)
    to += SINKS
    for k in range(shape.results):
        to[k] = known_time(state.ready[place[k]])
    to, place = to + shape.results, place + shape.results
    for k in range(shape.stores):
        to[k] = known_time(times.store[place[k]].ready)
    to, place = to + shape.stores, place + shape.stores
    for k in range(shape.lines):
        to[k] = known_time(times.line[place[k]])
    if shape.arrives:
        to[shape.lines] = known_time(times.arrives)


cdef void put_waits(const CoreBlock* block, const CorePart* part, GraphShape* shape, uint32_t row, const int64_t* dispatched,
                    const BlockTimes* times) noexcept nogil:
    """Puts how long µops wait after an execution: for their operands, loads for those of their addresses."""
    cdef const CoreInstruction* one
    cdef uint32_t i, k, data, loads
    shape.waits = 0
    for i in range(part.first, part.end):
        one = &instructions_of(block)[i]
        data, loads = one.uops, 0
        for k in range(one.first_access, one.first_access + one.accesses):
            data += core_accesses_of(block)[k].writes
            loads += core_accesses_of(block)[k].reads > core_accesses_of(block)[k].writes
        if data:
            put_wait(shape, row, data, times.data[i], dispatched[i])
        if loads:
            put_wait(shape, row, loads, times.address[i], dispatched[i])


cdef void put_wait(GraphShape* shape, uint32_t row, uint32_t waiting, int64_t time, int64_t dispatched) noexcept nogil:
    if shape.waits < MAX_SINKS:
        shape.waiting[shape.waits] = <uint8_t>waiting
        shape.wait[row][shape.waits] = <int32_t>(time - dispatched) if time >= NEVER // 2 else NEVER
    shape.waits += 1


cdef PartGraph* make_graph(const CoreFigures* figures, const CoreBlock* block, const CorePart* part,
                           const Pattern* pattern, BlockTimes* times) noexcept nogil:
    """Returns the graph of a part, for a pattern of responses; NULL: it is too large, or there is no memory."""
    cdef GraphShape shape
    cdef CoreState state
    cdef PartGraph* graph
    cdef uint32_t count = pattern.count if pattern != NULL else 0, i
    cdef const uint64_t* word = pattern.word if pattern != NULL else NULL
    cdef int64_t dispatched[MAX_INSTRUCTIONS]
    cdef int32_t dispatch
    shape.sources = shape.results = shape.stores = shape.lines = shape.waits = 0
    shape.sinks, shape.arrives = SINKS, count and part.stores
    find_registers(block, part, &shape)
    state.retired = NEVER
    probe(figures, block, part, word, count, NO_OPERAND, &state, times)
    if times.response != count:
        return NULL
    find_units(&state, &shape)
    for i in range(part.stores):
        note_sink(block.store[part.first_store + i], &shape.stores, &shape)
    if pattern != NULL:
        find_lines(part, pattern, &shape)
    shape.sinks += shape.arrives
    if shape.sources > MAX_GRAPH_SOURCES or shape.sinks > MAX_SINKS:
        return NULL
    dispatch = <int32_t>state.dispatch
    put_times(&shape, shape.time[0], &state, times)
    if pattern != NULL:
        memcpy(dispatched, times.dispatched, sizeof(dispatched))
        put_waits(block, part, &shape, 0, dispatched, times)
        if shape.waits > MAX_SINKS:
            return NULL
    for i in range(shape.sources):
        state.retired = NEVER
        probe(figures, block, part, word, count, shape.source[i], &state, times)
        put_times(&shape, shape.time[i + 1], &state, times)
        if pattern != NULL:
            put_waits(block, part, &shape, i + 1, dispatched, times)
        else:
            shape.waiting[i] = <uint8_t>min(times.waiting, <int64_t>255)
    graph = allocate_graph(&shape, part, count)
    if graph == NULL:
        return NULL
    if pattern != NULL:
        memcpy(graph.word, word, count * sizeof(uint64_t))
        graph.pattern = pattern.hash
    memcpy(graph.waiting, shape.waiting, shape.waits if pattern != NULL else shape.sources)
    graph.dispatch, graph.retiring, graph.commits = dispatch, part.slots * figures.slot, <int32_t>times.commits
    return graph


cdef uint32_t whole_groups(uint32_t sinks) noexcept nogil:
    return (sinks + SINK_GROUP - 1) // SINK_GROUP * SINK_GROUP


cdef uint32_t merge_sinks(const GraphShape* shape, uint16_t* sink) noexcept nogil:
    """Numbers the sinks, equal ones with one number; returns how many different ones there are."""
    cdef uint32_t first[MAX_SINKS]
    cdef uint32_t count = 0, i, k, m
    for k in range(shape.sinks):
        m = SINKS if k >= SINKS else count
        while m < count:
            i = 0
            while i <= shape.sources and shape.time[i][k] == shape.time[i][first[m]]:
                i += 1
            if i > shape.sources:
                break
            m += 1
        sink[k] = <uint16_t>m
        if m == count:
            first[m] = k
            count += 1
    return count


cdef PartGraph* allocate_graph(const GraphShape* shape, const CorePart* part, uint32_t responses) noexcept nogil:
    """Returns a graph of a shape; NULL: no memory."""
    cdef uint16_t sink[MAX_SINKS]
    cdef uint32_t sinks = merge_sinks(shape, sink), lanes = whole_groups(sinks), waits = whole_groups(shape.waits)
    cdef uint32_t rows = shape.sources + 1, results = shape.results + shape.stores + shape.lines
    cdef uint32_t progress = PROGRESS_SOURCES + shape.sources + part.units, i, k
    cdef uint64_t size = sizeof(PartGraph) + rows * (lanes + waits + 1) * sizeof(int32_t) + progress * sizeof(Progress) \
        + responses * sizeof(uint64_t) + results * sizeof(GraphResult) + shape.sources + max(shape.sources, shape.waits)
    cdef PartGraph* graph = <PartGraph*>malloc(size)
    if graph == NULL:
        return NULL
    memset(graph, 0, size)
    graph.sources, graph.results, graph.stores = <uint16_t>shape.sources, <uint16_t>shape.results, <uint16_t>shape.stores
    graph.lines, graph.sinks, graph.lanes, graph.waits = <uint16_t>shape.lines, <uint16_t>sinks, <uint16_t>lanes, waits
    graph.responses, graph.arrives = <uint16_t>responses, sink[shape.sinks - 1] if shape.arrives else 0
    graph.word = <uint64_t*>(graph + 1)
    graph.progress = <Progress*>(graph.word + responses)
    graph.rows = <int32_t*>(graph.progress + progress)
    graph.result = <GraphResult*>(graph.rows + rows * lanes)
    graph.slack = <int32_t*>(graph.result + results)
    graph.wait_rows = graph.slack + shape.sources
    graph.source = <uint8_t*>(graph.wait_rows + rows * waits)
    graph.waiting = graph.source + shape.sources
    for i in range(results):
        graph.result[i].to, graph.result[i].sink = shape.to[i], sink[SINKS + i]
    memcpy(graph.source, shape.source, shape.sources)
    for i in range(rows):
        fill_row(graph.rows + i * lanes, lanes)
        fill_row(graph.wait_rows + i * waits, waits)
        for k in range(shape.sinks):
            graph.rows[i * lanes + sink[k]] = shape.time[i][k]
        for k in range(shape.waits):
            graph.wait_rows[i * waits + k] = shape.wait[i][k]
    for i in range(shape.sources):
        graph.slack[i] = slack_of(graph, graph.rows + (i + 1) * lanes)
    return graph


cdef void fill_row(int32_t* row, uint32_t lanes) noexcept nogil:
    cdef uint32_t k
    for k in range(lanes):
        row[k] = NEVER


cdef int32_t slack_of(const PartGraph* graph, const int32_t* row) noexcept nogil:
    """Returns until when a source delays nothing, by its row."""
    cdef int32_t slack = -NEVER
    cdef uint32_t k
    for k in range(graph.sinks):
        if row[k] != NEVER:
            slack = min(slack, graph.rows[k] - row[k])
    return slack


cdef uint32_t waiting_by_graph(const PartGraph* graph, const CoreState* state, const CorePart* part, int32_t begin,
                               int64_t short_wait) noexcept nogil:
    """Returns how many µops of a part wait in the reservation station: those that depend on sources which are late; with a
    pattern of responses those whose operands are."""
    cdef int32_t at[MAX_LANES]
    cdef uint32_t waiting = 0, k = 0
    if graph.waits:
        while k < graph.waits:
            find_latest(graph.wait_rows + k, graph.waits, graph.source, graph.sources, state.ready, begin, at + k)
            k += SINK_GROUP
        for k in range(graph.waits):
            if at[k] - begin > short_wait:
                waiting += graph.waiting[k]
        return waiting
    for k in range(graph.sources):
        if state.ready[graph.source[k]] - begin > graph.slack[k] + short_wait:
            waiting += graph.waiting[k]
    return min(waiting, <uint32_t>part.waiting)


cdef void free_graphs(CorePart* part) noexcept nogil:
    """Frees a part's graphs."""
    cdef PartGraph* graph
    free(part.graph)
    while part.patterns != NULL:
        graph = part.patterns
        part.patterns = graph.next
        free(graph)


cdef void explain_progress(const CoreFigures* figures, const CoreBlock* block, const CorePart* part, const PartGraph* graph,
                           uint32_t which, BlockTimes* times) noexcept nogil:
    """Reports by which instructions a part's retirement proceeds if it waits for dispatch, a source of its graph, or a
    unit (PROGRESS_UNIT + its number)."""
    cdef CoreState state
    cdef uint32_t i
    times.delays = 0
    if which == PROGRESS_DISPATCH:
        for i in range(part.first, part.end):
            if instructions_of(block)[i].slots:
                report_delay(times, i, DELAY_DISPATCH, instructions_of(block)[i].slots)
    elif which >= PROGRESS_UNIT:
        explain_unit(block, part, which - PROGRESS_UNIT, times)
    else:
        state.retired = 0
        probe(figures, block, part, graph.word, graph.responses, NO_OPERAND if which == PROGRESS_FILL
              else graph.source[which - PROGRESS_SOURCES], &state, times)
    if times.delays == 0:
        report_delay(times, part.end - 1, DELAY_DISPATCH, 1)


cdef void explain_unit(const CoreBlock* block, const CorePart* part, uint32_t unit, BlockTimes* times) noexcept nogil:
    """Reports the instructions whose µops can use a unit."""
    cdef const CoreInstruction* one
    cdef uint32_t i, k, m, found
    for i in range(part.first, part.end):
        one = &instructions_of(block)[i]
        found = one.divider if unit == UNIT_DIVIDER else 0
        for k in range(one.uops if unit != UNIT_DIVIDER else 0):
            for m in range(uops_of(block)[one.first_uop + k].count):
                found += uops_of(block)[one.first_uop + k].port[m] == unit
        if found:
            report_delay(times, i, DELAY_DIVIDER if unit == UNIT_DIVIDER else DELAY_PORT, found)
    if times.delays == 0:                # ports of loads and stores
        for i in range(part.first, part.end):
            if instructions_of(block)[i].accesses:
                report_delay(times, i, DELAY_PORT, instructions_of(block)[i].accesses)
