"""The longest paths through a part of a block: from each register that it reads, and from its dispatch, to the registers and
stores that it writes and to its retirement.

They are found by execution (scheduler.pyx) with one source alone at 0 and all others before any time. So a part without responses
of memory is executed by a few sums and maxima, with the same result.
"""

cimport cython
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset

cdef struct GraphRegisters:      # of a part
    uint32_t sources, results
    uint8_t source[CORE_REGISTERS]
    uint8_t result[CORE_REGISTERS]


cdef void note_register(uint8_t register_, uint64_t* known, uint8_t* to, uint32_t* count) noexcept nogil:
    if register_ < NO_OPERAND and not known[0] >> register_ & 1:
        known[0] |= <uint64_t>1 << register_
        to[count[0]] = register_
        count[0] += 1


cdef void find_registers(const CoreBlock* block, const CorePart* part, GraphRegisters* found) noexcept nogil:
    """Finds the registers that a part reads before it writes them, and those that it writes."""
    cdef uint64_t read = 0, written = 0
    cdef const CoreInstruction* one
    cdef uint32_t i, k
    found.sources = found.results = 0
    for i in range(part.first, part.end):
        one = &instructions_of(block)[i]
        for k in range(one.sources):
            note_register(one.source[k], &read, found.source, &found.sources)
        for k in range(2 if one.accesses else 0):
            note_register(one.address[k], &read, found.source, &found.sources)
        for k in range(one.results):
            note_register(one.result[k], &written, found.result, &found.results)
        read |= written


cdef void probe(const CoreFigures* figures, const CoreBlock* block, const CorePart* part, uint32_t source,
                CoreState* state, BlockTimes* times) noexcept nogil:
    """Executes a part with one source at 0: a register, or NO_OPERAND: its dispatch."""
    cdef uint32_t i
    for i in range(CORE_OPERANDS):
        state.registers[i] = NEVER
    for i in range(CORE_UNITS):
        state.units[i] = NEVER
    state.committed, state.dispatch = NEVER, 0 if source == NO_OPERAND else NEVER
    if source != NO_OPERAND:
        state.registers[source] = 0
    times.response, times.delays, times.cause, times.waited, times.bytes = 0, 0, DELAY_LATENCY, 0, 0
    times.arrives, times.commits = NEVER, 0
    times.short_wait = -NEVER // 2       # µops that wait for the source, not for others of the part
    execute(figures, state, block, part, NULL, 0, times)


cdef int64_t value_of(const PartGraph* graph, uint32_t sink, const CoreState* state, const BlockTimes* times) noexcept nogil:
    """Returns the time of a sink after an execution."""
    if sink < graph.results:
        return state.registers[graph.result[sink]]
    sink -= graph.results
    if sink < graph.stores:
        return times.store[graph.store[sink]].ready
    sink -= graph.stores
    if sink == SINK_RETIRED:
        return state.retired
    return times.executed if sink == SINK_EXECUTED else times.resolved


cdef PartGraph* make_graph(const CoreFigures* figures, const CoreBlock* block, const CorePart* part,
                           BlockTimes* times) noexcept nogil:
    """Returns the graph of a part; NULL: it is too large, or there is no memory."""
    cdef GraphRegisters registers
    cdef PartGraph shape
    cdef PartGraph* graph
    cdef CoreState state
    cdef uint32_t i, k
    find_registers(block, part, &registers)
    if registers.sources > MAX_GRAPH_SOURCES or registers.results + part.stores + SINKS > MAX_SINKS:
        return NULL
    memset(&shape, 0, sizeof(shape))
    shape.sources, shape.results, shape.stores = <uint16_t>registers.sources, <uint16_t>registers.results, part.stores
    shape.retired = shape.results + shape.stores
    shape.sinks = shape.retired + SINKS
    graph = allocate_graph(&shape, part.units, registers.sources * shape.sinks)
    if graph == NULL:
        return NULL
    memcpy(graph.result, registers.result, registers.results)
    graph.store = block.store + part.first_store
    state.retired = NEVER
    probe(figures, block, part, NO_OPERAND, &state, times)
    graph.dispatch = <int32_t>state.dispatch
    for k in range(graph.sinks):
        graph.from_dispatch[k] = max(value_of(graph, k, &state, times), <int64_t>NEVER)
    k = 0
    for i in range(registers.sources):
        state.retired = NEVER
        probe(figures, block, part, registers.source[i], &state, times)
        graph.source[i].register_ = registers.source[i]
        graph.source[i].waiting = <uint8_t>min(times.waiting, <int64_t>255)
        k = put_edges(graph, &graph.source[i], k, &state, times)
    return graph


cdef PartGraph* allocate_graph(const PartGraph* shape, uint32_t units, uint32_t edges) noexcept nogil:
    """Returns a graph with room for all that it has; NULL: no memory."""
    cdef uint64_t progress = PROGRESS_SOURCES + shape.sources + units
    cdef uint64_t size = sizeof(PartGraph) + shape.sources * sizeof(GraphSource) + edges * sizeof(GraphEdge) \
        + progress * sizeof(Progress) + shape.sinks * sizeof(int64_t) + shape.results
    cdef PartGraph* graph = <PartGraph*>malloc(size)
    if graph == NULL:
        return NULL
    memset(graph, 0, size)
    graph[0] = shape[0]
    graph.progress = <Progress*>(graph + 1)
    graph.source = <GraphSource*>(graph.progress + progress)
    graph.edge = <GraphEdge*>(graph.source + shape.sources)
    graph.from_dispatch = <int64_t*>(graph.edge + edges)
    graph.result = <uint8_t*>(graph.from_dispatch + shape.sinks)
    return graph


cdef uint32_t put_edges(PartGraph* graph, GraphSource* source, uint32_t edge, const CoreState* state,
                        const BlockTimes* times) noexcept nogil:
    """Makes the edges from a source to the sinks that it reaches, from number ``edge`` on; returns the next number."""
    cdef int64_t value
    cdef uint32_t k
    source.first_edge, source.slack = <uint16_t>edge, -NEVER
    for k in range(graph.sinks):
        value = value_of(graph, k, state, times)
        if value < NEVER // 2:
            continue
        graph.edge[edge].sink, graph.edge[edge].ticks = k, <int32_t>value
        source.slack = min(source.slack, <int32_t>(graph.from_dispatch[k] - value))
        if k == graph.retired:
            source.retired_edge = <uint16_t>edge
        edge += 1
    source.edges = <uint16_t>(edge - source.first_edge)
    return edge


cdef void explain_progress(const CoreFigures* figures, const CoreBlock* block, const CorePart* part, uint32_t which,
                           BlockTimes* times) noexcept nogil:
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
        probe(figures, block, part, NO_OPERAND if which == PROGRESS_FILL
              else part.graph.source[which - PROGRESS_SOURCES].register_, &state, times)
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
