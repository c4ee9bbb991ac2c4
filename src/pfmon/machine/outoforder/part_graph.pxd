"""Longest paths through a part of a block: see part_graph.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    GRAPH_RUNS = 2               # of a part, before it gets a graph; of a pattern of responses, one behind the other
    MAX_GRAPHS = 8               # of a part, for patterns of responses
    MAX_SINKS = 96               # SINKS, and what a part writes
    MAX_GRAPH_SOURCES = 48
    SINK_GROUP = 8               # rows of a graph have a multiple of so many sinks
    MAX_LANES = MAX_SINKS + SINK_GROUP

cdef enum:                       # before those of registers and stores
    SINK_RETIRED = 0             # its last instruction retires
    SINK_EXECUTED                # its last µop starts
    SINK_RESOLVED                # its last instruction is done
    SINKS

cdef enum:                       # what retirement waited for
    PROGRESS_DISPATCH = 0        # dispatch: µops that dispatch,
    PROGRESS_FILL                # ... and the latency behind the last of them
    PROGRESS_SOURCES             # then by source, then by use of a unit
    PROGRESS_UNIT = 0x100        # + its number

cdef struct GraphResult:         # a time that a part sets
    uint16_t to                  # a place in CoreState.ready, or an access
    uint16_t sink

cdef struct Progress:            # of retirement
    uint64_t ticks
    uint64_t retiring            # ... in cycles in which an instruction retired; of dispatch: all

cdef struct PartGraph:           # of a part and, but for its first one, a pattern of responses; then all that it has
    uint16_t sources, results, stores, lines
    uint16_t sinks, lanes        # lanes: sinks, rounded up to groups
    uint16_t arrives             # the sink of the lines of its stores; 0: none
    uint16_t responses           # of its pattern
    int32_t dispatch             # ticks from the beginning of the part to its end
    int32_t retiring             # ticks in which its µops retire
    int32_t commits              # ticks in which no other store is committed
    uint32_t waits               # lanes of `wait_rows`; 0: µops wait for sources
    int32_t* rows                # by sink: ticks after the beginning, when all sources are ready; then by source and sink: ticks after that
    uint8_t* source              # places in CoreState.ready
    GraphResult* result          # values of registers, units; then stores; then lines
    Progress* progress
    int32_t* slack               # by source: ticks after the beginning up to which it delays nothing
    uint8_t* waiting             # ... µops that depend on it; of wait_rows: by lane: µops
    int32_t* wait_rows           # as `rows`, to the operands of the instructions, after their dispatch
    uint64_t* word               # its pattern,
    uint64_t pattern             # ... its hash
    PartGraph* next


cdef inline void find_latest(const int32_t* row, uint32_t lanes, const uint8_t* source, uint32_t sources,
                             const int32_t* ready, int32_t begin, int32_t* to) noexcept nogil:
    """Finds when a group of sinks is reached: from the beginning, by its row, or from a source, by its row, whichever is later."""
    cdef Four value = four_of(begin)
    cdef Four first = four_at(row) + value, second = four_at(row + 4) + value
    cdef uint32_t i
    for i in range(sources):
        row += lanes
        value = four_of(ready[source[i]])
        first, second = later_of(first, four_at(row) + value), later_of(second, four_at(row + 4) + value)
    put_four(to, first)
    put_four(to + 4, second)


cdef inline uint32_t find_sinks(const PartGraph* graph, const int32_t* ready, int32_t begin, int32_t* to) noexcept nogil:
    """Finds when the sinks of a graph are reached; returns for what its retirement waits, as its progress."""
    cdef const int32_t* row = graph.rows
    cdef uint32_t lanes = graph.lanes, sources = graph.sources, which = PROGRESS_FILL, i
    cdef int32_t retired = begin + row[SINK_RETIRED], time
    cdef Four value = four_of(begin)
    cdef Four first = four_at(row) + value, second = four_at(row + 4) + value
    for i in range(sources):
        row += lanes
        time = ready[graph.source[i]]
        value = four_of(time)
        first, second = later_of(first, four_at(row) + value), later_of(second, four_at(row + 4) + value)
        which = PROGRESS_SOURCES + i if time + row[SINK_RETIRED] > retired else which
        retired = max(retired, time + row[SINK_RETIRED])
    put_four(to, first)
    put_four(to + 4, second)
    i = SINK_GROUP
    while i < lanes:
        find_latest(graph.rows + i, lanes, graph.source, sources, ready, begin, to + i)
        i += SINK_GROUP
    return which


cdef inline bint is_pattern(const PartGraph* graph, const Pattern* pattern) noexcept nogil:
    """Tests whether a graph is that of a pattern."""
    cdef uint64_t different = graph.pattern ^ pattern.hash
    cdef uint32_t i
    if different | (graph.responses ^ pattern.count):
        return False
    for i in range(pattern.count):
        different |= graph.word[i] ^ pattern.word[i]
    return different == 0


cdef inline PartGraph* graph_of_pattern(CorePart* part, const Pattern* pattern) noexcept nogil:
    """Returns a part's graph for a pattern, which becomes the first one; NULL: it has none so far."""
    cdef PartGraph** link = &part.patterns
    cdef PartGraph* graph = part.patterns
    while graph != NULL and not is_pattern(graph, pattern):
        link, graph = &graph.next, graph.next
    if graph != part.patterns and graph != NULL:
        link[0], graph.next, part.patterns = graph.next, part.patterns, graph
    return graph


cdef PartGraph* make_graph(const CoreFigures* figures, const CoreBlock* block, const CorePart* part,
                           const Pattern* pattern, BlockTimes* times) noexcept nogil
cdef void explain_progress(const CoreFigures* figures, const CoreBlock* block, const CorePart* part, const PartGraph* graph,
                           uint32_t which, BlockTimes* times) noexcept nogil
cdef uint32_t waiting_by_graph(const PartGraph* graph, const CoreState* state, const CorePart* part, int32_t begin,
                               int64_t short_wait) noexcept nogil
