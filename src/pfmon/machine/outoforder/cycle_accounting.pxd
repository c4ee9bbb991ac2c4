"""Cycle accounting of an out-of-order core: see cycle_accounting.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    RETIRING = DELAY_CAUSES      # in CoreBlock.ticks: in cycles in which the instruction retired
    TICK_KINDS
    SHORT_WAIT = 2               # cycles of a µop in the reservation station that do not count


@cython.final
cdef class CycleAccounting:
    cdef const CoreFigures* figures
    cdef BlockTimes* times       # of the block that runs
    cdef BlockTimes probed       # of a part whose progress is explained, or that gets a graph
    cdef bint detailed           # the delays of each block are wanted
    cdef bint lost               # there was no memory
    cdef CoreBlock* listed       # blocks with ticks that are not recorded
    cdef int64_t rest            # ticks of retirement that are no whole cycle yet

    cdef void begin(self, const CoreFigures* figures, BlockTimes* times) noexcept
    cdef void add(self, CoreBlock* block, uint32_t instruction, uint32_t cause, int64_t ticks) noexcept nogil
    cdef void put(self, CoreBlock* block, uint32_t instruction, uint32_t kind, uint64_t ticks) noexcept nogil
    cdef void count_dispatched(self, CoreBlock* block, CorePart* part, PartGraph* graph, int64_t ticks) noexcept nogil
    cdef void count(self, CoreBlock* block, CorePart* part, PartGraph* graph, uint32_t which, uint32_t place,
                    int64_t ticks) noexcept nogil
    cdef void distribute(self, CoreBlock* block, CorePart* part, const PartGraph* graph, uint32_t which, uint64_t ticks,
                         uint64_t retiring) noexcept nogil
    cdef void list_block(self, CoreBlock* block) noexcept nogil
    cdef void gather(self, CoreBlock* block) noexcept nogil
    cdef void gather_graph(self, CoreBlock* block, CorePart* part, PartGraph* graph) noexcept nogil
    cdef uint64_t whole_cycles(self, uint64_t ticks) noexcept nogil
    cdef uint32_t cycle_delays(self, CycleDelay* to) noexcept nogil


cdef inline void proceed(PartGraph* graph, uint32_t which, int64_t ticks, int64_t retiring) noexcept nogil:
    """Counts ticks by which retirement proceeded, in the graph of the part; those of dispatch are all retiring."""
    graph.progress[which].ticks += ticks
    graph.progress[which].retiring += retiring
