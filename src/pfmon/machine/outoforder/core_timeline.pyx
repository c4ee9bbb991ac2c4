"""The timeline of hot blocks on an out-of-order core: when each instruction of some executions was delivered, dispatched, executed
and retired, and why it retired later than the one before.

A capture begins with an execution of a block and ends when that block has run so many times: these are iterations, with all that
runs between. A block is captured at its first execution, and anew at four times as many each time: so what is kept is of its second
half or so, when caches and predictors know it. So many captures are kept, those of the blocks with most cycles.

The parts of a block that is captured are executed, not run by their graphs (scheduler.pyx): so times of each instruction are known, and the
run takes the same time as without.
"""

cimport cython
from libc.stdlib cimport calloc, free, malloc

from pfmon.stream._stream cimport BlockHead


@cython.final
cdef class CoreTimeline:
    """``ranges``: (first address, the one behind) of code of which blocks are captured; none: of all. ``iterations``, ``rows``: a
    capture ends when it has so many executions of its block, or instructions; ``captures``: those kept at most."""

    def __cinit__(self, CoreBlocks blocks, ranges=(), uint32_t iterations=4, uint32_t rows=TIMELINE_ROWS, uint32_t captures=MAX_CAPTURES):
        cdef uint32_t i = 0
        self.blocks, self.table = blocks, blocks.table
        self.iterations, self.rows = max(iterations, 1), rows
        self.capacity = min(max(captures, 1), MAX_CAPTURES)
        ordered = list(ranges)
        if ordered:
            self.ranges = <uint64_t*>malloc(2 * len(ordered) * sizeof(uint64_t))
            if self.ranges == NULL:
                raise MemoryError
        for first, beyond in ordered:
            self.ranges[2 * i], self.ranges[2 * i + 1] = first, beyond
            i += 1
        self.range_count = i

    def __dealloc__(self):
        cdef uint32_t i
        for i in range(self.count):
            free(self.captures[i])
        free(self.spare)
        free(self.ranges)

    # --- while blocks run

    cdef bint begin_block(self, const CoreState* state, CoreBlock* block, uint32_t end) noexcept nogil:
        """A block begins, which the front end has fetched; returns whether it is captured."""
        if self.last != NULL:
            self.last.time += <uint64_t>(state.retired - self.retired)
        self.last = NULL
        if block.history == NULL and not self.remember(block):
            return False
        self.last, self.retired = block.history, state.retired
        block.history.runs += 1
        if self.open != NULL:
            self.go_on(block)
        if block.history.wanted and block.history.runs >= block.history.due:
            if self.open != NULL and gives_up(self.opened, self.open.iterations, self.open.rows):
                self.end_capture(False)
            if self.open == NULL:
                self.begin_capture(block)
        if self.open == NULL:
            return False
        self.put_run(state, block, end)
        return True

    cdef bint remember(self, CoreBlock* block) noexcept nogil:
        """Begins the history of a block; False: there is no memory."""
        cdef const BlockHead* head
        cdef uint64_t last
        block.history = <BlockHistory*>calloc(1, sizeof(BlockHistory))
        if block.history == NULL:
            self.lost = True
            return False
        head = &self.table.c.heads[block.number]
        last = self.table.c.instructions[head.first + head.length - 1].address
        block.history.due, block.history.wanted = 1, overlaps(self.ranges, self.range_count, head.ip, last)
        return True

    cdef void go_on(self, const CoreBlock* block) noexcept nogil:
        """Ends the capture before a block if it has enough, or no room for the block."""
        cdef Capture* open = self.open
        cdef bint again = block.number == open.block
        if again and (open.iterations == self.iterations or open.rows >= self.rows):
            self.end_capture(True)
        elif open.runs == TIMELINE_ROWS or open.rows + block.length > TIMELINE_ROWS \
                or open.delays + 3 * <uint32_t>block.length + CORE_UNITS * <uint32_t>block.part_count > TIMELINE_DELAYS:
            self.end_capture(False)
        elif again:
            open.iterations += 1

    cdef void begin_capture(self, CoreBlock* block) noexcept nogil:
        """Begins a capture with a block, if there is a place for it."""
        if find_place(self.kept, &self.count, self.capacity, block.history) < 0:
            return
        if self.spare == NULL:
            self.spare = <Capture*>malloc(sizeof(Capture))
            if self.spare == NULL:
                self.lost = True
                return
        self.open, self.opened = self.spare, block.history
        self.open.block, self.open.execution = block.number, block.history.runs
        self.open.runs = self.open.rows = self.open.delays = self.open.whole = 0
        self.open.iterations = 1

    cdef void end_capture(self, bint whole) noexcept nogil:
        """Ends the capture, which takes its place unless there is a better one of its block."""
        cdef Capture** place = &self.captures[self.opened.place - 1]
        cdef Capture* one = self.open
        one.whole, self.open = whole, NULL
        if whole or one.iterations > 1:
            self.opened.gave_up = False
        if place[0] == NULL or is_better(place[0].block == one.block, one.iterations, whole, place[0].iterations, place[0].whole):
            self.spare, place[0] = place[0], one

    cdef void put_run(self, const CoreState* state, const CoreBlock* block, uint32_t end) noexcept nogil:
        cdef TimelineRun* run = &self.open.run[self.open.runs]
        run.block, run.first_row, run.end = block.number, self.open.rows, <uint8_t>end
        run.begins = block.number == self.open.block
        run.delivered, run.cost = state.front_end, block.cost[end & END_TAKEN][end >> END_SOURCE_SHIFT]
        run.before = run.after = state.retired
        self.open.runs += 1
        self.part = NULL

    cdef void begin_part(self, const CoreState* state) noexcept nogil:
        """A part is about to be executed."""
        self.end_part(state)
        self.part_retired = state.retired

    cdef void put_part(self, const CoreBlock* block, const CorePart* part, const BlockTimes* times, uint32_t first) noexcept nogil:
        """Keeps the times of the instructions of a part that was executed; ``first``: the first of its delays."""
        cdef TimelineRow* row = self.open.row + self.open.rows
        cdef uint32_t i
        for i in range(part.first, part.end):
            row.run, row.instruction = self.open.runs - 1, <uint8_t>i
            row.loads = loads_of(block, &instructions_of(block)[i])
            row.dispatched, row.address, row.data, row.done = times.dispatched[i], times.address[i], times.data[i], times.done[i]
            row.retired = 0
            row += 1
        row = self.open.row + self.open.rows
        for i in range(first, times.delays):
            self.put_delay(self.open.rows + times.delay[i].instruction - part.first, times.delay[i].cause, NO_UNIT, False,
                           times.delay[i].ticks)
            row[times.delay[i].instruction - part.first].retired += times.delay[i].ticks
        for i in range(part.end - part.first):
            self.part_retired += row[i].retired
            row[i].retired = self.part_retired
        self.part = part
        self.open.rows += part.end - part.first

    cdef void end_part(self, const CoreState* state) noexcept nogil:
        """The part that was executed last, if any, has run: its units have done their work, for which its last instruction waited."""
        cdef int64_t done
        cdef uint32_t i
        if self.part == NULL:
            return
        for i in range(self.part.units):
            done = state.epoch + state.ready[UNITS + self.part.unit[i].unit]
            if done > self.part_retired:
                self.put_delay(self.open.rows - 1, DELAY_DIVIDER if self.part.unit[i].unit == UNIT_DIVIDER else DELAY_PORT,
                               self.part.unit[i].unit, False, done - self.part_retired)
                self.part_retired = done
        self.open.row[self.open.rows - 1].retired = self.part_retired
        self.part = NULL

    cdef void end_block(self, const CoreState* state, uint32_t cause) noexcept nogil:
        """The block has run, and retirement has caught up with dispatch."""
        cdef TimelineRun* run = &self.open.run[self.open.runs - 1]
        cdef uint32_t last = self.open.rows - 1
        self.end_part(state)
        run.after = state.retired
        if state.retired > self.open.row[last].retired:
            self.put_delay(last, cause, NO_UNIT, True, state.retired - self.open.row[last].retired)

    cdef void put_delay(self, uint32_t row, uint32_t cause, uint32_t unit, bint behind, int64_t ticks) noexcept nogil:
        cdef TimelineDelay* delay = &self.open.delay[self.open.delays]
        if self.open.delays == TIMELINE_DELAYS:
            self.lost = True
            return
        delay.row, delay.cause, delay.unit, delay.behind, delay.ticks = row, <uint8_t>cause, <uint8_t>unit, behind, ticks
        self.open.delays += 1

    # --- when the stream has ended

    def captured(self, OutOfOrderCore core):
        """Return the captures, those of the blocks with most ticks first: number of the block, its executions, its ticks, the execution
        with which the capture begins, whether its last iteration is whole; runs, rows and delays, each with the fields of their
        structures in order. MemoryError: something could not be kept."""
        cdef Capture* one
        cdef uint32_t i, k
        if self.lost:
            raise MemoryError
        if self.open != NULL:
            self.end_capture(False)
        if self.last != NULL:
            self.last.time += <uint64_t>(core.state.retired - self.retired)
            self.last = NULL
        found = []
        for i in range(self.count):
            one = self.captures[i]
            if one == NULL or self.kept[i].place != i + 1 or one.runs == 0:
                continue
            runs = [(one.run[k].block, one.run[k].first_row, one.run[k].end, bool(one.run[k].begins), one.run[k].delivered,
                     one.run[k].cost, one.run[k].before, one.run[k].after) for k in range(one.runs)]
            rows = [(one.row[k].run, one.row[k].instruction, bool(one.row[k].loads), one.row[k].dispatched, one.row[k].address,
                     one.row[k].data, one.row[k].done, one.row[k].retired) for k in range(one.rows)]
            delays = [(one.delay[k].row, one.delay[k].cause, one.delay[k].unit, bool(one.delay[k].behind), one.delay[k].ticks)
                      for k in range(one.delays)]
            found.append((one.block, self.kept[i].runs, self.kept[i].time, one.execution, bool(one.whole), runs, rows, delays))
        return sorted(found, key=lambda one: (-one[2], one[0]))

    def units_of(self, uint64_t number):
        """Return, by instruction of a block, {unit: ticks of its work}: how its µops are spread over the ports that can take them."""
        cdef CoreBlock* block = self.blocks.make(number)
        cdef list found
        if block == NULL:
            raise MemoryError
        found = [{} for _ in range(block.length)]
        for i in range(block.part_count):
            self.blocks.spread_part(block, &block.parts[i], found)
        free_block(block)
        return found

    def slots_of(self, uint64_t number):
        """Return, by instruction of a block, the µops that dispatch."""
        cdef CoreBlock* block = self.blocks.make(number)
        cdef uint32_t i
        if block == NULL:
            raise MemoryError
        slots = [instructions_of(block)[i].slots for i in range(block.length)]
        free_block(block)
        return slots


cdef uint8_t loads_of(const CoreBlock* block, const CoreInstruction* one) noexcept nogil:
    """Returns whether an instruction reads memory."""
    cdef uint32_t k
    for k in range(one.first_access, one.first_access + one.accesses):
        if core_accesses_of(block)[k].reads:
            return True
    return False
