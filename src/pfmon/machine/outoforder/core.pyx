"""An out-of-order core: runs blocks, part by part, and keeps the time.

A part dispatches when the front end has decoded its block and the buffers have room for it. If it has a graph and memory did not
respond otherwise than usual, its times are sums and maxima along that (part_graph.pyx); otherwise it is executed (scheduler.pyx).
Its ports then do their work, in the order of dispatch, and retirement waits for them. Stores are committed in order after that.

Ticks by which retirement proceeds belong to instructions, with a cause (cycle_accounting.pyx).
"""

cimport cython
from libc.stdlib cimport calloc, free


cdef inline void put_sinks(OutOfOrderCore self, const PartGraph* graph, const int64_t* at, int64_t base) noexcept nogil:
    """Sets the times of a part, which dispatches: those of its sinks are ``at``, behind ``base``."""
    cdef BlockTimes* times = &self.times
    cdef uint32_t k
    for k in range(graph.results):
        self.state.registers[graph.result[k]] = base + at[k]
    for k in range(graph.stores):
        times.store[graph.store[k]].ready = base + at[graph.results + k]
    times.executed = base + at[graph.retired + SINK_EXECUTED]
    times.resolved = base + at[graph.retired + SINK_RESOLVED]
    self.state.dispatch += graph.dispatch


cdef inline void run_graph(OutOfOrderCore self, CoreBlock* block, CorePart* part) noexcept nogil:
    """Runs a part by its graph."""
    cdef const PartGraph* graph = part.graph
    cdef CoreState* state = &self.state
    cdef int64_t begin = state.dispatch, retired
    cdef const GraphSource* source = graph.source
    cdef const GraphSource* end = source + graph.sources
    while source < end:
        if state.registers[source.register_] - begin > source.slack:
            run_late(self, block, part, source)
            return
        source += 1
    put_sinks(self, graph, graph.from_dispatch, begin)
    self.times.waiting = 0
    retired = begin + graph.from_dispatch[graph.retired] - state.retired
    if retired > part.slots * self.figures.slot:
        state.retired += retired
        self.accounting.count_dispatched(block, part, retired)
    else:
        self.retire_next(block, part)


cdef void run_late(OutOfOrderCore self, CoreBlock* block, CorePart* part, const GraphSource* source) noexcept nogil:
    """Runs a part by its graph, when a register delays it, ``source``, and maybe others behind it."""
    cdef const PartGraph* graph = part.graph
    cdef CoreState* state = &self.state
    cdef BlockTimes* times = &self.times
    cdef int64_t begin = state.dispatch, value
    cdef int64_t at[MAX_SINKS]
    cdef uint32_t retired = graph.retired, which = PROGRESS_FILL, k
    cdef const GraphSource* last = graph.source + graph.sources
    cdef const GraphEdge* edge
    cdef const GraphEdge* end
    times.waiting = 0
    for k in range(graph.sinks):
        at[k] = begin + graph.from_dispatch[k]
    while source < last:
        value = state.registers[source.register_]
        if value - begin > source.slack:
            edge = graph.edge + source.first_edge
            end = edge + source.edges
            if value + graph.edge[source.retired_edge].ticks > at[retired]:
                which = PROGRESS_SOURCES + <uint32_t>(source - graph.source)
            if value - begin > source.slack + times.short_wait:
                times.waiting += source.waiting
            while edge < end:
                at[edge.sink] = max(at[edge.sink], value + edge.ticks)
                edge += 1
        source += 1
    put_sinks(self, graph, at, 0)
    times.waiting = min(times.waiting, <int64_t>part.waiting)
    value = at[retired] - state.retired
    if value <= part.slots * self.figures.slot:
        self.retire_next(block, part)
    else:
        state.retired = at[retired]
        if which == PROGRESS_FILL:
            self.accounting.count_dispatched(block, part, value)
        else:
            self.accounting.count(block, part, which, which, value)


cdef inline void run_part(OutOfOrderCore self, CoreBlock* block, CorePart* part, const Response* responses,
                          uint32_t count) noexcept nogil:
    """Runs a part of a block."""
    cdef CoreState* state = &self.state
    cdef BlockTimes* times = &self.times
    cdef const UnitUse* use = part.unit
    cdef const UnitUse* end = use + part.units
    cdef int64_t began, done
    if self.occupied:
        self.wait_for_room(part)
    began = state.dispatch
    if part.graph != NULL and times.response == count:
        self.from_graphs += 1
        if self.uses_graphs:
            run_graph(self, block, part)
        else:
            self.execute_instead(block, part)
    else:
        self.execute_part(block, part, responses, count)
    while use < end:
        done = max(state.units[use.unit] + use.load, began + use.end)
        state.units[use.unit] = done
        if done > state.retired:
            self.count_unit(block, part, use, done)
        use += 1
    if part.stores:
        self.commit(block, part)
    if max(state.retired, state.committed) - began > self.shortest:
        self.enter_buffers(part, began)
    self.entered.slots += part.slots
    self.entered.loads += part.loads
    self.entered.stores += part.stores


cdef int64_t waiting_in(const CoreFigures* figures, const CoreState* state, const CorePart* part) noexcept nogil:
    """Returns how many µops of a part wait in the reservation station: those that depend on registers which are late."""
    cdef const GraphSource* source = part.graph.source
    cdef int64_t waiting = 0
    cdef uint32_t i
    for i in range(part.graph.sources):
        if state.registers[source[i].register_] - state.dispatch > source[i].slack + SHORT_WAIT * figures.ticks:
            waiting += source[i].waiting
    return min(waiting, <int64_t>part.waiting)


@cython.final
cdef class OutOfOrderCore:
    """``graphs``: False: each part of a block is executed."""

    def __cinit__(self, bint graphs=True):
        self.uses_graphs = graphs
        self.accounting = CycleAccounting()
        self.accounting.begin(&self.figures, &self.times)

    def __dealloc__(self):
        cdef uint32_t i
        for i in range(CORE_BUFFERS):
            free(self.buffers[i].occupants)

    def set_figures(self, figures):
        """Sets the figures of the core, by name and in cycles: those of `CoreFigures`, buffers by their entries."""
        cdef CoreFigures* to = &self.figures
        cdef int32_t ticks = ticks_of(figures["width"])
        cdef uint32_t i
        to.width, to.ticks, to.slot, to.lead = figures["width"], ticks, ticks // figures["width"], ticks * figures["lead"]
        for i, latency in enumerate(figures["levels"]):
            to.level[i] = ticks * latency
            to.fill[i] = max(ticks * figures["fill_busy"], -(-ticks * latency // figures["fill_buffers"]))
        to.bus, to.ring, to.walk = ticks * figures["bus"], ticks * figures["ring"], ticks * figures["walk"]
        to.split_busy, to.partial_flags = ticks * figures["split_busy"], ticks * figures["partial_flags"]
        to.walker = -(-to.walk // figures["page_walkers"])
        to.blocked, to.alias = ticks * figures["blocked"], ticks * figures["alias"]
        to.store_split, to.store_page_split = ticks * figures["store_split"], ticks * figures["store_page_split"]
        to.split, to.page_split = ticks * figures["split"], ticks * figures["page_split"]
        to.translation, to.lock = ticks * figures["translation"], ticks * figures["lock"]
        to.mispredict, to.redirect = ticks * figures["mispredict"], ticks * figures["redirect"]
        to.load_ports = min(len(figures["load_ports"]), MAX_UOP_PORTS)
        for i in range(to.load_ports):
            to.load_port[i] = figures["load_ports"][i]
        to.split_busy //= to.load_ports
        self.times.short_wait = SHORT_WAIT * to.ticks
        for i in range(CORE_OPERANDS):
            self.state.registers[i] = NEVER
        for i, entries in enumerate(figures["buffers"]):
            self.make_buffer(&self.buffers[i], entries)

    cdef int make_buffer(self, CoreBuffer* buffer, int64_t entries) except -1:
        """Makes a buffer of so many entries; no more than `width` of them are taken in a cycle."""
        buffer.size, buffer.mask = entries, 1
        while buffer.mask < entries:
            buffer.mask *= 2
        buffer.occupants = <Occupant*>calloc(buffer.mask, sizeof(Occupant))
        if buffer.occupants == NULL:
            raise MemoryError
        buffer.mask -= 1
        buffer.hidden = entries * self.figures.slot
        self.shortest = min(self.shortest, buffer.hidden) if self.shortest else buffer.hidden
        return 0

    # --- a block

    cdef void run(self, CoreBlock* block, const Response* responses, uint32_t count, uint32_t end) noexcept nogil:
        """Runs a block to which memory responded; ``end``: BlockEnd. Afterwards `times` has those of its stores."""
        cdef CoreState* state = &self.state
        cdef BlockTimes* times = &self.times
        cdef CorePart* part = block.parts
        cdef CorePart* last = part + block.part_count
        cdef int64_t decoded
        times.began, times.response, times.delays = state.dispatch, 0, 0
        times.cause, times.waited = DELAY_DISPATCH, 0
        times.arrives, times.commits, times.bytes = NEVER, 0, 0
        if count:
            self.fetch(responses, count)
        times.full, times.stores_full, times.undelivered = 0, 0, max(state.front_end - state.dispatch, <int64_t>0)
        wait_dispatch(state, times, state.front_end, state.front_cause)
        decoded = max(state.front_end, times.began - self.figures.lead) + block.cost[end & END_TAKEN][end >> END_SOURCE_SHIFT]
        while part < last:
            run_part(self, block, part, responses, count)
            part += 1
        if end & (END_MISPREDICTED | END_REDIRECTED):
            self.redirect(block, decoded, end)
        else:
            state.front_end, state.front_cause = max(decoded, state.dispatch - self.figures.lead), DELAY_FRONT_END
        if state.dispatch > state.retired:
            self.catch_up(block, DELAY_BRANCH if end & END_MISPREDICTED else times.cause)
        while state.dispatch - self.cycle_ticks >= self.figures.ticks << 5:
            self.cycle += 1 << 5
            self.cycle_ticks += self.figures.ticks << 5
        while state.dispatch - self.cycle_ticks >= self.figures.ticks:
            self.cycle += 1
            self.cycle_ticks += self.figures.ticks
        if block.top:
            rotate_x87(state, block.top)

    cdef void fetch(self, const Response* responses, uint32_t count) noexcept nogil:
        """Delays the front end by responses to the fetch of a block."""
        cdef BlockTimes* times = &self.times
        while times.response < count and responses[times.response].kind >= RESPONSE_FETCH \
                and responses[times.response].kind <= RESPONSE_FETCH_TRANSLATION:
            self.state.front_end += responses[times.response].value
            self.state.front_cause = DELAY_FETCH + responses[times.response].kind - RESPONSE_FETCH
            times.response += 1

    cdef void redirect(self, CoreBlock* block, int64_t decoded, uint32_t end) noexcept nogil:
        """Redirects the front end behind a block: when its mispredicted branch is resolved, or decoded."""
        cdef CoreState* state = &self.state
        if end & END_MISPREDICTED:
            state.dispatch = max(state.dispatch, self.times.resolved + self.figures.mispredict)
            state.front_end, state.front_cause = state.dispatch, DELAY_FRONT_END
        else:
            state.front_end = max(decoded + self.figures.redirect, state.dispatch - self.figures.lead)
            state.front_cause = DELAY_REDIRECT

    cdef void catch_up(self, CoreBlock* block, uint32_t cause) noexcept nogil:
        """Lets retirement catch up with dispatch, which waits behind the last instruction of a block."""
        cdef int64_t ticks = self.state.dispatch - self.state.retired
        self.state.retired = self.state.dispatch
        self.accounting.add(block, block.length - 1, cause | WITHOUT_CYCLE | BEHIND, ticks)

    # --- buffers

    cdef void wait_for_room(self, const CorePart* part) noexcept nogil:
        """Delays dispatch until the buffers have room for a part."""
        cdef CoreState* state = &self.state
        cdef CoreBuffer* buffers = self.buffers
        cdef int64_t began = state.dispatch, before
        wait_dispatch(state, &self.times, until_room(&buffers[REORDER_BUFFER], self.entered.slots, part.slots,
                                                     state.dispatch), DELAY_BUFFER)
        wait_dispatch(state, &self.times, until_station_has_room(&buffers[RESERVATION_STATION], part.waiting,
                                                                 state.dispatch), DELAY_BUFFER)
        if part.loads:
            wait_dispatch(state, &self.times, until_room(&buffers[LOAD_BUFFER], self.entered.loads, part.loads,
                                                         state.dispatch), DELAY_BUFFER)
        before = state.dispatch
        if part.stores:
            wait_dispatch(state, &self.times, until_room(&buffers[STORE_BUFFER], self.entered.stores, part.stores,
                                                         state.dispatch), DELAY_STORES)
        self.times.stores_full += state.dispatch - before
        self.times.full += state.dispatch - began
        self.occupied = is_occupied(&buffers[REORDER_BUFFER]) | is_occupied(&buffers[RESERVATION_STATION]) \
            | is_occupied(&buffers[LOAD_BUFFER]) | is_occupied(&buffers[STORE_BUFFER])

    cdef void enter_buffers(self, const CorePart* part, int64_t began) noexcept nogil:
        """Notes when a part leaves the buffers, if that is late."""
        cdef CoreState* state = &self.state
        enter(&self.buffers[REORDER_BUFFER], self.entered.slots, part.slots, began, state.retired)
        enter_station(&self.buffers[RESERVATION_STATION], self.times.waiting, began, self.times.executed)
        enter(&self.buffers[LOAD_BUFFER], self.entered.loads, part.loads, began, state.retired)
        enter(&self.buffers[STORE_BUFFER], self.entered.stores, part.stores, began, state.committed)
        self.occupied = True

    cdef void commit(self, const CoreBlock* block, const CorePart* part) noexcept nogil:
        """Commits the stores of a part that has retired."""
        cdef CoreState* state = &self.state
        cdef uint32_t i
        state.committed = max(max(state.committed + part.stores * self.figures.ticks, state.retired),
                              self.times.arrives) + self.times.commits
        self.times.arrives, self.times.commits = NEVER, 0
        for i in range(part.stores):
            self.times.store[block.store[part.first_store + i]].committed = state.committed

    # --- parts

    cdef void execute_part(self, CoreBlock* block, CorePart* part, const Response* responses,
                           uint32_t count) noexcept nogil:
        """Executes a part; the second time it gets a graph, if it can."""
        cdef BlockTimes* times = &self.times
        cdef uint32_t first = times.delays, i
        self.executed += 1
        execute(&self.figures, &self.state, block, part, responses, count, times)
        if not self.accounting.detailed:
            for i in range(first, times.delays):
                self.accounting.add(block, times.delay[i].instruction, times.delay[i].cause, times.delay[i].ticks)
            times.delays = first
        part.runs += 1
        if part.runs == GRAPH_RUNS and not part.alone:
            part.graph = make_graph(&self.figures, block, part, &self.accounting.probed)

    cdef void execute_instead(self, CoreBlock* block, CorePart* part) noexcept nogil:
        """Executes a part in place of its graph, which tells how many µops wait."""
        cdef int64_t waiting = waiting_in(&self.figures, &self.state, part)
        self.execute_part(block, part, NULL, 0)
        self.times.waiting = waiting

    cdef void count_unit(self, CoreBlock* block, CorePart* part, const UnitUse* use, int64_t done) noexcept nogil:
        """Lets retirement wait for a unit, and counts it."""
        cdef int64_t ticks = done - self.state.retired
        self.state.retired = done
        self.accounting.count(block, part, PROGRESS_UNIT + use.unit, PROGRESS_SOURCES
                   + (part.graph.sources if part.graph != NULL else 0) + <uint32_t>(use - part.unit), ticks)

    cdef void retire_next(self, CoreBlock* block, CorePart* part) noexcept nogil:
        """Retires a part behind that before it, as many µops in a cycle as can retire."""
        cdef int64_t ticks = part.slots * self.figures.slot
        self.state.retired += ticks
        if ticks:
            self.accounting.count(block, part, PROGRESS_DISPATCH, PROGRESS_DISPATCH, ticks)


cdef void rotate_x87(CoreState* state, int32_t top) noexcept nogil:
    """Renames the x87 registers, whose numbers are relative to the top of the stack."""
    cdef int64_t before[8]
    cdef int32_t i
    for i in range(8):
        before[i] = state.registers[X87_REGISTER + i]
    for i in range(8):
        state.registers[X87_REGISTER + i] = before[(i + top) & 7]
