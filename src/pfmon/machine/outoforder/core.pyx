"""An out-of-order core: runs blocks, part by part, and keeps the time.

A part dispatches when the front end has decoded its block and the buffers have room for it. If it has a graph for what memory
responds, its times are sums and maxima along that (part_graph.pyx); otherwise it is executed (scheduler.pyx).
Its ports then do their work, in the order of dispatch, and retirement waits for them. Stores are committed in order after that.

Ticks by which retirement proceeds belong to instructions, with a cause (cycle_accounting.pyx).
"""

cimport cython
from libc.stdlib cimport calloc, free


cdef inline void run_graph(OutOfOrderCore self, CoreBlock* block, CorePart* part, PartGraph* graph) noexcept nogil:
    """Runs a part by a graph."""
    cdef CoreState* state = &self.state
    cdef BlockTimes* times = &self.times
    cdef const GraphResult* result = graph.result
    cdef const GraphResult* end = result + graph.results
    cdef int32_t begin = <int32_t>(state.dispatch - state.epoch)
    cdef int32_t* at = self.at
    cdef int64_t ticks
    cdef uint32_t which = find_sinks(graph, state.ready, begin, at)
    if at[SINK_EXECUTED] - begin > self.station_hidden:
        times.waiting = waiting_by_graph(graph, state, part, begin, times.short_wait)
    while result < end:
        state.ready[result.to] = at[result.sink]
        result += 1
    end += graph.stores
    while result < end:
        times.store[result.to].ready = state.epoch + at[result.sink]
        result += 1
    times.executed = state.epoch + at[SINK_EXECUTED]
    times.resolved = state.epoch + at[SINK_RESOLVED]
    state.dispatch += graph.dispatch
    ticks = state.epoch + at[SINK_RETIRED] - state.retired
    if self.accounting.detailed or times.waited and which == PROGRESS_FILL and ticks > graph.retiring:
        self.account(block, part, graph, ticks, which)
    else:
        proceed_by_graph(graph, ticks, which, self.figures.ticks)
    state.retired += max(ticks, <int64_t>graph.retiring)


cdef inline void proceed_by_graph(PartGraph* graph, int64_t ticks, uint32_t which, int64_t cycle) noexcept nogil:
    """Counts the ticks by which a part retires that waited so many of them for its dispatch or a source."""
    cdef int64_t least = graph.retiring, dispatched
    dispatched = min(ticks, <int64_t>graph.dispatch) if which == PROGRESS_FILL else 0
    dispatched = dispatched if ticks > least else least
    graph.progress[PROGRESS_DISPATCH].ticks += dispatched
    dispatched = max(ticks, least) - dispatched
    proceed(graph, which, dispatched, min(dispatched, cycle))


cdef inline void bring_lines(OutOfOrderCore self, const PartGraph* graph) noexcept nogil:
    """Sets the times of lines, and of the commits of stores, behind a part that ran by a graph for responses."""
    cdef const GraphResult* line = graph.result + graph.results + graph.stores
    cdef const GraphResult* end = line + graph.lines
    while line < end:
        self.times.line[line.to] = self.state.epoch + self.at[line.sink]
        line += 1
    if graph.arrives:
        self.times.arrives = self.state.epoch + self.at[graph.arrives]
    self.times.commits = graph.commits


cdef PartGraph* find_graph(OutOfOrderCore self, CorePart* part, const Response* responses, uint32_t count) noexcept nogil:
    """Returns the graph for the responses to a part; NULL: it has to be executed."""
    cdef PartGraph* graph = NULL
    if part.alone or not self.uses_graphs or not read_pattern(part, responses, count, &self.pattern):
        self.pattern.hash = UNLIKE_ALL
    else:
        graph = graph_of_pattern(part, &self.pattern)
    if graph != NULL:
        take_times(&self.state, &self.times, part, responses, graph.responses)
    return graph


cdef inline void occupy_units(OutOfOrderCore self, CoreBlock* block, CorePart* part, int64_t began) noexcept nogil:
    """Lets the units do their work for a part."""
    cdef CoreState* state = &self.state
    cdef int32_t* units = state.ready + UNITS
    cdef int32_t begin = <int32_t>(began - state.epoch)
    cdef Four retired = four_of(<int32_t>(state.retired - state.epoch)), dispatched = four_of(begin)
    cdef Four first = later_of(four_at(units) + four_at(part.port_load), dispatched + four_at(part.port_end))
    cdef Four second = later_of(four_at(units + 4) + four_at(part.port_load + 4), dispatched + four_at(part.port_end + 4))
    cdef uint32_t i
    put_four(units, first)
    put_four(units + 4, second)
    for i in range(part.ports, part.units):
        units[part.unit[i].unit] = max(units[part.unit[i].unit] + part.unit[i].load, begin + part.unit[i].end)
    if any_negative((retired - first) | (retired - second)) or part.ports < part.units:
        for i in range(part.units):
            if state.epoch + units[part.unit[i].unit] > state.retired:
                self.count_unit(block, part, i, state.epoch + units[part.unit[i].unit])


cdef inline void run_part(OutOfOrderCore self, CoreBlock* block, CorePart* part, const Response* responses,
                          uint32_t count) noexcept nogil:
    """Runs a part of a block."""
    cdef CoreState* state = &self.state
    cdef BlockTimes* times = &self.times
    cdef PartGraph* graph
    cdef int64_t began
    if may_be_full(self, part):
        self.wait_for_room(part)
    began = state.dispatch
    graph = part.graph
    if times.response != count:
        graph = find_graph(self, part, responses + times.response, count - times.response)
    if graph == NULL or not self.uses_graphs:
        self.execute_part(block, part, responses, count)
    else:
        self.from_graphs += 1
        run_graph(self, block, part, graph)
        if graph.responses:
            bring_lines(self, graph)
    occupy_units(self, block, part, began)
    if part.stores:
        commit(self, block, part)
    if max(state.retired, state.committed) - began > self.shortest:
        self.enter_buffers(part, began)
    put_four(self.entered, four_at(self.entered) + four_at(part.entries))


cdef inline void commit(OutOfOrderCore self, const CoreBlock* block, const CorePart* part) noexcept nogil:
    """Commits the stores of a part that has retired."""
    cdef CoreState* state = &self.state
    cdef uint32_t i
    state.committed = max(max(state.committed + part.commits, state.retired),
                          self.times.arrives) + self.times.commits
    self.times.arrives, self.times.commits = NEVER, 0
    for i in range(part.first_store, part.first_store + part.stores):
        self.times.store[block.store[i]].committed = state.committed


cdef inline bint may_be_full(OutOfOrderCore self, const CorePart* part) noexcept nogil:
    """Tests whether a buffer may have no room for a part."""
    return any_negative(four_at(self.full) - four_at(self.entered) - four_at(part.half))


cdef inline void wait_for_buffer(OutOfOrderCore self, const CorePart* part, uint32_t buffer, uint32_t cause) noexcept nogil:
    """Delays dispatch until a buffer that is left in order has room for a part."""
    cdef int32_t entered = self.entered[buffer]
    if <int32_t>(self.full[buffer] - entered - part.half[buffer]) < 0:
        wait_dispatch(&self.state, &self.times, until_room(&self.buffers[buffer], entered, part.entries[buffer],
                                                           self.state.dispatch), cause)
        self.full[buffer] = full_at(&self.buffers[buffer], entered)


cdef inline void count_cycles(OutOfOrderCore self) noexcept nogil:
    """Lets `cycle` come up with dispatch."""
    cdef uint64_t ticks = self.state.dispatch - self.cycle_ticks, cycles
    if ticks < 1 << RECIPROCAL_TICKS:
        cycles = ticks * self.reciprocal >> 32
    else:
        cycles = ticks // <uint64_t>self.figures.ticks
    self.cycle += cycles
    self.cycle_ticks += cycles * self.figures.ticks


@cython.final
cdef class OutOfOrderCore:
    """``graphs``: False: each part of a block is executed."""

    def __cinit__(self, bint graphs=True):
        self.uses_graphs = self.may_use_graphs = graphs
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
        self.reciprocal = ((<uint64_t>1 << 32) + ticks - 1) // ticks
        self.times.short_wait = SHORT_WAIT * to.ticks
        for i in range(CORE_TIMES):
            self.state.ready[i] = NEVER if i < CORE_OPERANDS else 0
        for i, entries in enumerate(figures["buffers"]):
            self.make_buffer(&self.buffers[i], entries)
            self.full[i] = ALWAYS_ROOM
        self.station_hidden = <int32_t>self.buffers[RESERVATION_STATION].hidden
        self.full[RESERVATION_STATION] = self.buffers[RESERVATION_STATION].size

    @property
    def ticks(self) -> int:
        """Ticks of a cycle."""
        return self.figures.ticks

    def keep_timeline(self, CoreTimeline timeline):
        """Keeps the timeline of hot blocks, too. Before the stream begins."""
        self.timeline = timeline

    cdef int make_buffer(self, CoreBuffer* buffer, int64_t entries) except -1:
        """Makes a buffer of so many entries; no more than `width` of them are taken in a cycle."""
        buffer.size, buffer.mask = <int32_t>entries, 1
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
        times.arrives, times.commits, times.bytes = NEVER, 0, 0
        if count:
            self.fetch(responses, count)
        times.waited = max(state.front_end - state.dispatch, <int64_t>0)
        times.full, times.stores_full, times.undelivered, times.mispredicted = 0, 0, times.waited, 0
        times.cause = state.front_cause if times.waited > 0 else DELAY_DISPATCH
        state.dispatch += times.waited
        if not block.listed:
            self.accounting.list_block(block)
        decoded = max(state.front_end, times.began - self.figures.lead) + block.cost[end & END_TAKEN][end >> END_SOURCE_SHIFT]
        if self.timeline is not None and self.timeline.begin_block(state, block, end):
            self.captured, self.uses_graphs = True, False
        while part < last:
            run_part(self, block, part, responses, count)
            part += 1
        if end & (END_MISPREDICTED | END_REDIRECTED):
            self.redirect(block, decoded, end)
        else:
            state.front_end, state.front_cause = max(decoded, state.dispatch - self.figures.lead), DELAY_FRONT_END
        if state.dispatch > state.retired:
            self.catch_up(block, DELAY_BRANCH if end & END_MISPREDICTED else times.cause)
        if self.captured:
            self.timeline.end_block(state, DELAY_BRANCH if end & END_MISPREDICTED else times.cause)
            self.captured, self.uses_graphs = False, self.may_use_graphs
        count_cycles(self)
        if state.dispatch - state.epoch > 1 << EPOCH_TICKS:
            move_epoch(state)
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
        cdef int64_t began = state.dispatch
        if end & END_MISPREDICTED:
            state.dispatch = max(state.dispatch, self.times.resolved + self.figures.mispredict)
            self.times.mispredicted = min(
                state.dispatch - began, <int64_t>self.buffers[REORDER_BUFFER].size * self.figures.slot + self.figures.mispredict)
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
        cdef CoreBuffer* station = &self.buffers[RESERVATION_STATION]
        cdef int64_t began = state.dispatch, before
        wait_for_buffer(self, part, REORDER_BUFFER, DELAY_BUFFER)
        if self.full[RESERVATION_STATION] < part.half[RESERVATION_STATION]:
            wait_dispatch(state, &self.times, until_station_has_room(station, part.waiting, state.dispatch), DELAY_BUFFER)
            self.full[RESERVATION_STATION] = station.size - station.held
        if part.loads:
            wait_for_buffer(self, part, LOAD_BUFFER, DELAY_BUFFER)
        before = state.dispatch
        if part.stores:
            wait_for_buffer(self, part, STORE_BUFFER, DELAY_STORES)
        self.times.stores_full += state.dispatch - before
        self.times.full += state.dispatch - began

    cdef void enter_buffers(self, const CorePart* part, int64_t began) noexcept nogil:
        """Notes when a part leaves the buffers, if that is late."""
        cdef CoreState* state = &self.state
        cdef const int32_t* entered = self.entered
        cdef int64_t retires = state.retired - began, executes = self.times.executed - began
        enter(&self.buffers[REORDER_BUFFER], &self.full[REORDER_BUFFER], entered[REORDER_BUFFER], part.slots, retires, state.retired)
        enter_station(&self.buffers[RESERVATION_STATION], &self.full[RESERVATION_STATION], <int32_t>self.times.waiting, executes, self.times.executed)
        enter(&self.buffers[LOAD_BUFFER], &self.full[LOAD_BUFFER], entered[LOAD_BUFFER], part.loads, retires, state.retired)
        enter(&self.buffers[STORE_BUFFER], &self.full[STORE_BUFFER], entered[STORE_BUFFER], part.stores, state.committed - began, state.committed)

    # --- parts

    cdef void execute_part(self, CoreBlock* block, CorePart* part, const Response* responses,
                           uint32_t count) noexcept nogil:
        """Executes a part; the second time it gets a graph, if it can, and one for responses that it had the last time."""
        cdef BlockTimes* times = &self.times
        cdef bint responds = times.response != count
        if part.graph != NULL and not responds:
            self.execute_instead(block, part)
            return
        self.execute_counted(block, part, responses, count)
        if responds:
            self.note_pattern(block, part)
        part.runs = min(part.runs + 1, GRAPH_RUNS + 1)
        if part.runs == GRAPH_RUNS and not part.alone:
            part.graph = make_graph(&self.figures, block, part, NULL, &self.accounting.probed)

    cdef void execute_counted(self, CoreBlock* block, CorePart* part, const Response* responses,
                              uint32_t count) noexcept nogil:
        """Executes a part, and counts the delays of its instructions."""
        cdef BlockTimes* times = &self.times
        cdef uint32_t first = times.delays, i
        self.executed += 1
        if self.captured:
            self.timeline.begin_part(&self.state)
        execute(&self.figures, &self.state, block, part, responses, count, times)
        if self.captured:
            self.timeline.put_part(block, part, times, first)
        if not self.accounting.detailed:
            for i in range(first, times.delays):
                self.accounting.add(block, times.delay[i].instruction, times.delay[i].cause, times.delay[i].ticks)
            times.delays = first

    cdef void execute_instead(self, CoreBlock* block, CorePart* part) noexcept nogil:
        """Executes a part in place of its graph, which tells how many µops wait."""
        cdef CoreState* state = &self.state
        cdef int64_t waiting = waiting_by_graph(part.graph, state, part, <int32_t>(state.dispatch - state.epoch),
                                                self.times.short_wait)
        self.from_graphs += 1
        self.execute_counted(block, part, NULL, 0)
        self.times.waiting = waiting

    cdef void note_pattern(self, CoreBlock* block, CorePart* part) noexcept nogil:
        """Notes the pattern of responses with which a part was executed; the second time in a row it gets a graph."""
        if self.pattern.hash != UNLIKE_ALL and self.pattern.hash == part.pattern:
            self.add_pattern(block, part)
        part.pattern = self.pattern.hash

    cdef void add_pattern(self, CoreBlock* block, CorePart* part) noexcept nogil:
        """Makes a graph for the pattern of responses that came last, twice, if there is room."""
        cdef PartGraph* graph = part.patterns
        cdef uint32_t count = 0
        while graph != NULL:
            graph, count = graph.next, count + 1
        if count < MAX_GRAPHS:
            graph = make_graph(&self.figures, block, part, &self.pattern, &self.accounting.probed)
            if graph != NULL:
                graph.next, part.patterns = part.patterns, graph

    cdef void account(self, CoreBlock* block, CorePart* part, PartGraph* graph, int64_t ticks, uint32_t which) noexcept nogil:
        """Counts ticks by which a part retired, if dispatch waited before, or in detail."""
        if ticks <= graph.retiring:
            if graph.retiring:
                self.accounting.count(block, part, graph, PROGRESS_DISPATCH, PROGRESS_DISPATCH, graph.retiring)
        elif which == PROGRESS_FILL:
            self.accounting.count_dispatched(block, part, graph, ticks)
        else:
            self.accounting.count(block, part, graph, which, which, ticks)

    cdef void count_unit(self, CoreBlock* block, CorePart* part, uint32_t use, int64_t done) noexcept nogil:
        """Lets retirement wait for a unit, and counts it."""
        cdef int64_t ticks = done - self.state.retired
        self.state.retired = done
        self.accounting.count(block, part, part.graph, PROGRESS_UNIT + part.unit[use].unit, PROGRESS_SOURCES
                   + (part.graph.sources if part.graph != NULL else 0) + use, ticks)


cdef void move_epoch(CoreState* state) noexcept nogil:
    """Lets the epoch follow dispatch; times long before are as good as that."""
    cdef int64_t shift = state.dispatch - state.epoch
    cdef uint32_t i
    for i in range(CORE_TIMES):
        state.ready[i] = <int32_t>max(state.ready[i] - shift, <int64_t>NEVER)
    state.epoch = state.dispatch


cdef void rotate_x87(CoreState* state, int32_t top) noexcept nogil:
    """Renames the x87 registers, whose numbers are relative to the top of the stack."""
    cdef int32_t before[8]
    cdef int32_t i
    for i in range(8):
        before[i] = state.ready[X87_REGISTER + i]
    for i in range(8):
        state.ready[X87_REGISTER + i] = before[(i + top) & 7]
