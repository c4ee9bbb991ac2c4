"""Longest paths through a part of a block: see part_graph.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    GRAPH_RUNS = 2               # of a part, before it gets a graph
    MAX_SINKS = 96               # registers and stores of a part, and SINKS
    MAX_GRAPH_SOURCES = 48

cdef enum:                       # behind those of registers and stores
    SINK_RETIRED = 0             # its last instruction retires
    SINK_EXECUTED                # its last µop starts
    SINK_RESOLVED                # its last instruction is done
    SINKS

cdef enum:                       # what retirement waited for
    PROGRESS_DISPATCH = 0        # dispatch: µops that dispatch,
    PROGRESS_FILL                # ... and the latency behind the last of them
    PROGRESS_SOURCES             # then by source, then by use of a unit
    PROGRESS_UNIT = 0x100        # + its number

cdef struct GraphSource:         # a register that the part reads
    int32_t slack                # ticks after the beginning up to which it delays nothing
    uint16_t first_edge, edges
    uint16_t retired_edge        # the one to SINK_RETIRED
    uint8_t register_
    uint8_t waiting              # µops that depend on it

cdef struct GraphEdge:
    int32_t ticks
    uint32_t sink

cdef struct Progress:            # of retirement
    uint64_t ticks
    uint64_t retiring            # ... in cycles in which an instruction retired

cdef struct PartGraph:           # then its sources, its edges, its progress, `from_dispatch`, the registers
    uint16_t sources, results, stores, sinks
    uint16_t retired             # number of SINK_RETIRED among the sinks
    int32_t dispatch             # ticks from the beginning of the part to its end
    GraphSource* source
    GraphEdge* edge
    Progress* progress
    int64_t* from_dispatch       # by sink: ticks after the beginning, when all sources are ready
    const uint16_t* store        # accesses: those of the block, from the part's first one on
    uint8_t* result              # registers


cdef PartGraph* make_graph(const CoreFigures* figures, const CoreBlock* block, const CorePart* part,
                           BlockTimes* times) noexcept nogil
cdef void explain_progress(const CoreFigures* figures, const CoreBlock* block, const CorePart* part, uint32_t which,
                           BlockTimes* times) noexcept nogil
