"""Cycle accounting of an out-of-order core: the ticks by which retirement proceeds, by instruction and cause.

They are counted by what a part waited for, and distributed over its instructions when they are recorded; in whole cycles, which add
up to those of the core.
"""

cimport cython
from libc.stdlib cimport calloc


@cython.final
cdef class CycleAccounting:
    """Cycles of an out-of-order core by instruction and cause; `OutOfOrderCore` makes it."""

    cdef void begin(self, const CoreFigures* figures, BlockTimes* times) noexcept:
        """Sets the core's figures, and the times of the block that runs; both outlive it."""
        self.figures, self.times = figures, times

    cdef void add(self, CoreBlock* block, uint32_t instruction, uint32_t cause, int64_t ticks) noexcept nogil:
        """Counts ticks by which retirement proceeded."""
        cdef int64_t retiring = 0 if cause & WITHOUT_CYCLE else min(ticks, <int64_t>self.figures.ticks)
        if self.detailed:
            report_delay(self.times, instruction, cause, ticks)
            return
        if ticks > retiring:
            self.put(block, instruction, cause & DELAY_CAUSE, ticks - retiring)
        if retiring:
            self.put(block, instruction, RETIRING, retiring)

    cdef void put(self, CoreBlock* block, uint32_t instruction, uint32_t kind, uint64_t ticks) noexcept nogil:
        """Counts ticks of a kind at an instruction."""
        if block.ticks == NULL:
            block.ticks = <uint64_t*>calloc(block.length * TICK_KINDS, sizeof(uint64_t))
            if block.ticks == NULL:
                self.lost = True
                return
        block.ticks[instruction * TICK_KINDS + kind] += ticks

    cdef void count_dispatched(self, CoreBlock* block, CorePart* part, PartGraph* graph, int64_t ticks) noexcept nogil:
        """Counts ticks by which retirement proceeded with dispatch, which may have waited before."""
        cdef int64_t waited, dispatched
        if self.times.cause != DELAY_DISPATCH:
            waited = min(ticks, self.times.waited)
            self.add(block, part.first, self.times.cause | WITHOUT_CYCLE, waited)
            self.times.cause, self.times.waited = DELAY_DISPATCH, 0
            ticks -= waited
        dispatched = min(ticks, <int64_t>graph.dispatch)
        if dispatched > 0:
            self.count(block, part, graph, PROGRESS_DISPATCH, PROGRESS_DISPATCH, dispatched)
        if ticks > dispatched:
            self.count(block, part, graph, PROGRESS_FILL, PROGRESS_FILL, ticks - dispatched)

    cdef void count(self, CoreBlock* block, CorePart* part, PartGraph* graph, uint32_t which, uint32_t place,
                    int64_t ticks) noexcept nogil:
        """Counts ticks by which the retirement of a part proceeded, and for what it waited; ``place``: in the progress of ``graph``."""
        cdef int64_t retiring = ticks if which == PROGRESS_DISPATCH else min(ticks, <int64_t>self.figures.ticks)
        if self.detailed or graph == NULL:
            self.distribute(block, part, graph, which, ticks, retiring)
        else:
            proceed(graph, place, ticks, retiring)

    cdef void distribute(self, CoreBlock* block, CorePart* part, const PartGraph* graph, uint32_t which, uint64_t ticks,
                         uint64_t retiring) noexcept nogil:
        """Distributes ticks over the instructions by which retirement proceeds."""
        cdef const Delay* delay = self.probed.delay
        cdef uint64_t whole = 0, weight = 0, done = 0, retired = 0, share, stalled
        cdef uint32_t i
        explain_progress(self.figures, block, part, graph, which, &self.probed)
        for i in range(self.probed.delays):
            whole += delay[i].ticks
        for i in range(self.probed.delays):
            weight += delay[i].ticks
            share = ticks * weight // whole - done
            done += share
            if self.detailed:
                if share:
                    report_delay(self.times, delay[i].instruction, delay[i].cause, share)
                continue
            stalled = (ticks - retiring) * weight // whole - retired
            retired += stalled
            stalled = min(stalled, share)
            if stalled:
                self.put(block, delay[i].instruction, delay[i].cause, stalled)
            if share > stalled:
                self.put(block, delay[i].instruction, RETIRING, share - stalled)

    cdef void list_block(self, CoreBlock* block) noexcept nogil:
        """Lists a block that runs, until its ticks are recorded."""
        block.listed, block.next, self.listed = True, self.listed, block

    cdef void gather(self, CoreBlock* block) noexcept nogil:
        """Distributes what is counted in the graphs of a block."""
        cdef CorePart* part
        cdef PartGraph* graph
        cdef uint32_t i
        for i in range(block.part_count):
            part = &block.parts[i]
            if part.graph != NULL:
                self.gather_graph(block, part, part.graph)
            graph = part.patterns
            while graph != NULL:
                self.gather_graph(block, part, graph)
                graph = graph.next

    cdef void gather_graph(self, CoreBlock* block, CorePart* part, PartGraph* graph) noexcept nogil:
        """Distributes what is counted in a graph of a part."""
        cdef uint32_t k, which, uses = PROGRESS_SOURCES + graph.sources
        graph.progress[PROGRESS_DISPATCH].retiring = graph.progress[PROGRESS_DISPATCH].ticks
        for k in range(uses + part.units):
            if graph.progress[k].ticks:
                which = k if k < uses else PROGRESS_UNIT + part.unit[k - uses].unit
                self.distribute(block, part, graph, which, graph.progress[k].ticks, graph.progress[k].retiring)
                graph.progress[k].ticks = graph.progress[k].retiring = 0

    cdef uint64_t whole_cycles(self, uint64_t ticks) noexcept nogil:
        """Returns the cycles that end with so many ticks more."""
        cdef uint64_t cycles
        ticks += self.rest
        cycles = ticks // <uint64_t>self.figures.ticks
        self.rest = ticks - cycles * self.figures.ticks
        return cycles

    cdef uint32_t cycle_delays(self, CycleDelay* to) noexcept nogil:
        """Returns the delays of the block that ran in cycles, in the order of its instructions."""
        cdef Delay* delay = self.times.delay
        cdef Delay one
        cdef uint32_t count = self.times.delays, found = 0, i, k
        cdef uint64_t cycles
        for i in range(1, count):
            one, k = delay[i], i
            while k and delay[k - 1].instruction > one.instruction:
                delay[k] = delay[k - 1]
                k -= 1
            delay[k] = one
        for i in range(count):
            cycles = self.whole_cycles(delay[i].ticks)
            if cycles == 0:
                continue
            to[found].instruction, to[found].cause, to[found].cycles = delay[i].instruction, delay[i].cause, <uint32_t>cycles
            if found and to[found - 1].instruction == to[found].instruction and not to[found].cause & BEHIND:
                to[found - 1].cause |= WITHOUT_CYCLE     # it retires in the last one
            found += 1
        return found
