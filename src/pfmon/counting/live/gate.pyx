"""The reader of the stream that switches counting and event sets at exact instructions.

Conditions decide: triggers, PSR.up (MODE marks), the regions that a thread is in (REGION_START, REGION_STOP), the task of a
system (TASK marks), and the event set in force. A machine gets the whole stream; its
records belong to the event set in force.
"""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport Failure, Mark, NOWHERE, TASK_IDLE, TASK_NUMBER, TASK_UNCOUNTED, mark_kind, mark_value


cdef class Gate(Splitter):
    """Passes the stream on to one of ``readers`` and to ``witness``, if given, while counting is on.

    ``actions``: by number of the trigger (starts, group, repeats): it starts or stops counting, for one of two groups.
    Of a group, the first start while counting is off and the first stop while it is on take effect; in a repeating
    group all do. ``on``: whether counting is on at first; ``up``: PSR.up at first, None: it is ignored.
    ``whole_calls``: numbers of triggers that count one whole call: counting stops when it returns. ``machine``: keeps
    its records apart by event set, one for each reader, and one more for uncounted instructions.
    ``by_thread``: the readers belong to the threads of the process, by place; the last one to all later threads.
    ``by_task``: the tasks of a system decide what counts; with ``tasks_apart`` the readers belong to them, by number;
    ``without_idle``: numbers of the event sets for which idle tasks do not count.
    ``regions``: those that count, None: regions change nothing; ``regions_alone``: what is outside of them does not;
    ``regions_apart``: the readers belong to sets of regions (`sets_of_readers`), the first one to none of them.
    ``on_due`` is called when ``due`` instructions have retired, and returns the next number.
    """

    def __cinit__(self, table, readers, *, code=(), data=(), actions=(), whole_calls=(), bint on=True, up=None,
                  witness=None, machine=None, bint by_thread=False, bint by_task=False, bint tasks_apart=False, without_idle=(),
                  OpenRegions regions=None, bint regions_alone=False, bint regions_apart=False, due=None, on_due=None, **__):
        if len(actions) > TRIGGERS:
            raise ValueError(f"{len(actions)} triggers: there is room for {TRIGGERS}")
        self.keep = list(readers)
        self.reader = self.keep[0]
        self.witness = witness
        self.machine = machine
        self.off = <uint32_t>len(self.keep)
        self.by_thread = by_thread
        self.by_task, self.tasks_apart = by_task, tasks_apart
        for number in without_idle:
            self.without_idle |= <uint64_t>1 << <int>number
        self.regions, self.regions_alone, self.regions_apart = regions, regions_alone, regions_apart
        self.region_sets = 1             # none of them
        self.on_due = on_due
        self.due = ~<uint64_t>0 if due is None else due
        self.switches.on = on
        self.switches.heeds_psr_up = up is not None
        self.switches.up = bool(up)
        for number, (starts, group, repeats) in enumerate(actions):
            self.switches.action[number] = STARTS if starts else STOPS
            self.switches.group[number] = group
            self.switches.repeats[group] = repeats
        for number in whole_calls:
            self.whole_calls |= <uint64_t>1 << <int>number
        if self.whole_calls:
            self.calls = CallStack(table, self.traced)
        self.switched()

    def choose(self, uint32_t place):
        """Switches the stream to the reader with this number."""
        self.reader = self.keep[place]
        self.event_set = place
        self.switched()

    cdef void switch_reader(self, uint32_t place) noexcept nogil:
        with gil:
            self.choose(min(place, self.off - 1))

    def start(self):
        """Starts counting."""
        self.switches.on = True
        self.switched()

    def stop(self):
        """Stops counting."""
        self.switches.on = False
        self.switched()

    def set_counting(self, bint on, up):
        """Starts or stops counting; ``up``: PSR.up at this point, None: it is ignored."""
        self.switches.on = on
        self.switches.heeds_psr_up = up is not None
        self.switches.up = bool(up)
        self.switched()

    @property
    def counting(self) -> bool:
        """Whether counting is on after the words read so far."""
        return bool(self.counts())

    def set_due(self, uint64_t retired):
        """Calls on_due when so many instructions have retired, if it is not due before."""
        self.due = min(self.due, retired)

    def trigger_hits(self) -> list[int]:
        """Number of times that each trigger was reached, whether or not it had an effect."""
        return [self.switches.hits[number] for number in range(TRIGGERS) if self.switches.action[number]]

    cdef bint counts(self) noexcept nogil:
        """Whether what follows is counted."""
        if self.task & TASK_UNCOUNTED:
            return False
        if self.task & TASK_IDLE and self.without_idle >> (0 if self.tasks_apart else self.event_set) & 1:
            return False
        if self.regions_alone and not self.regions.now:
            return False
        return is_counting(&self.switches)

    cdef void pass_on(self, const uint64_t* words, uint64_t count) noexcept nogil:
        if count == 0:
            return
        if self.calls is not None:
            self.calls.read(words, count)
        if self.counts():
            self.reader.consume(words, count)
            if self.witness is not None:
                self.witness.consume(words, count)
        if self.machine is not None:
            self.machine.consume(words, count)

    cdef void switched(self) noexcept nogil:
        """Applies a change of the reader or of counting: tells the readers the last block, which they may not have
        received."""
        self.reader.follow(self.last)
        if self.witness is not None:
            self.witness.follow(self.last)
        if self.machine is not None:
            self.machine.use_event_set(self.event_set if self.counts() else self.off)

    cdef void reach(self, uint32_t trigger) noexcept nogil:
        cdef bint changed = reach_trigger(&self.switches, trigger)
        if (self.whole_calls >> trigger) & 1:
            self.calls.arrive_at(self.next_address)
            if changed or self.has_left_call():
                self.await_return()
        elif changed and not self.switches.on:
            self.returns_to = NOWHERE
        if changed:
            self.switched()

    cdef void await_return(self) noexcept nogil:
        """Counts until the call just entered returns; a function without a caller never returns."""
        self.depth, self.caller = self.calls.now.depth, self.calls.thread
        self.returns_to = self.calls.now.calls[self.depth - 1].return_ip if self.depth else NOWHERE

    cdef bint has_left_call(self) noexcept nogil:
        """Whether the counted call was left without a return (longjmp), and another began."""
        return self.returns_to != NOWHERE and self.calls.thread == self.caller and self.calls.now.depth <= self.depth

    cdef void reach_return(self) noexcept nogil:
        """Called at the return address of the counted call: it has returned, or a deeper one has."""
        if self.calls.thread != self.caller:
            return
        self.calls.arrive_at(self.returns_to)
        if self.calls.now.depth < self.depth:
            self.returns_to = NOWHERE
            self.switches.on = False
            self.switched()

    cdef void reach_due(self) noexcept nogil:
        with gil:
            try:
                due = self.on_due()
            except BaseException as error:   # raised again when the run has ended
                self.error, due = error, None
            self.due = ~<uint64_t>0 if due is None else due

    cdef bint ends_part(self, uint64_t mark) noexcept nogil:
        if self.by_thread and mark_kind(mark) == Mark.THREAD:
            return True
        if self.by_task and mark_kind(mark) == Mark.TASK:
            return True
        if self.regions is not None and (mark_kind(mark) == Mark.THREAD
                                         or Mark.REGION_NAME <= mark_kind(mark) <= Mark.REGION_STOP):
            return True
        return self.switches.heeds_psr_up and mark_kind(mark) == Mark.MODE

    cdef void follow_regions(self, uint64_t mark) noexcept nogil:
        """Applies a thread switch, or a mark of a region."""
        cdef uint64_t before = self.regions.now
        if mark_kind(mark) == Mark.REGION_NAME:
            self.regions.take_name(mark)
        elif mark_kind(mark) != Mark.THREAD:
            self.regions.take_mark(mark)
        elif not self.regions.switch_thread(mark_value(mark)):
            self.fail(Failure.OUT_OF_MEMORY)
        if self.regions.now == before:
            return
        if self.regions_apart:
            self.switch_reader(self.reader_of_regions())
        else:
            self.switched()

    cdef uint32_t reader_of_regions(self) noexcept nogil:
        """Returns the number of the reader of the regions that the running thread is in."""
        cdef uint32_t place
        for place in range(self.region_sets):
            if self.sets_of_regions[place] == self.regions.now:
                return place
        if self.region_sets == min(self.off, <uint32_t>MAX_REGION_SETS):
            self.lacks_readers = True
            return 0
        self.sets_of_regions[self.region_sets] = self.regions.now
        self.region_sets += 1
        return self.region_sets - 1

    def sets_of_readers(self) -> list[int]:
        """By reader, a bit for each region that its instructions were in, by the region's number."""
        return [self.sets_of_regions[place] for place in range(self.region_sets)]

    cdef void handle_mark(self, uint64_t mark) noexcept nogil:
        if self.regions is not None and (mark_kind(mark) == Mark.THREAD
                                         or Mark.REGION_NAME <= mark_kind(mark) <= Mark.REGION_STOP):
            self.follow_regions(mark)
            if mark_kind(mark) != Mark.THREAD or not self.by_thread:
                return
        if mark_kind(mark) == Mark.THREAD:
            self.switch_reader(<uint32_t>mark_value(mark))
            return
        if mark_kind(mark) == Mark.TASK:
            self.task = mark_value(mark) & (TASK_NUMBER | TASK_IDLE | TASK_UNCOUNTED)
            if self.tasks_apart:
                self.switch_reader(<uint32_t>(self.task & TASK_NUMBER))
            else:
                self.switched()
            return
        set_mode(&self.switches, mark)
        self.switched()
