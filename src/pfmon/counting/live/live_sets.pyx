"""Event sets counted live in turn, or a single gated one: the set in force counts the blocks, with the machine's
records of them. Retired instructions and calls are tracked for all sets."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport BLOCK_MASK, accesses_of

cdef enum:
    MAX_LIVE_SETS = 64


cdef class LiveSets(RecordObserver):
    """``sets``: the countdown of each (live_counting.LiveCounting), by event set; any other number is not counted.
    ``calls`` is shared with them. ValueError: more than there is room for."""

    def __cinit__(self, BlockTable table, bint traced, sets, CallStack calls=None):
        if len(sets) > MAX_LIVE_SETS:
            raise ValueError(f"{len(sets)} event sets: there is room for {MAX_LIVE_SETS}")
        self.table, self.traced, self.calls = table, traced, calls
        self.sets = list(sets)
        self.current = self.sets[0]

    def shares(self):
        """Instructions that retired while each set was in force."""
        return [self.active[number] for number in range(len(self.sets))]

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        if event_set != self.event_set:
            with gil:
                self.choose(event_set)

    cdef int choose(self, uint32_t event_set) except -1:
        if self.current is not None and event_set >= <uint32_t>len(self.sets):
            self.current.disable()
        self.event_set = event_set
        self.current = self.sets[event_set] if event_set < len(self.sets) else None
        if self.current is not None:
            self.current.retired, self.current.last = self.retired, self.last
        return 0

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        if self.current is None:
            self.skip_block(words, count, self.traced)
            if self.calls is not None:
                self.calls.read(words, count)
            return
        self.current.consume(words, count)
        self.active[self.event_set] += self.current.retired - self.retired
        self.retired, self.last = self.current.retired, self.current.last

    cdef void on_block(self, const ObservedBlock* block) noexcept nogil:
        if self.current is not None:
            self.current.on_block(block)
            self.active[self.event_set] += self.current.retired - self.retired
            self.retired, self.last = self.current.retired, self.current.last
            return
        if block.words != NULL:
            self.skip_block(block.words, 1, False)
        if self.calls is not None:
            if block.words != NULL:
                self.calls.arrive(block.words[0])
                self.calls.end_block(block.words[0])
                self.calls.retire_block(block.mispredicted, block.now)
            self.calls.read(block.marks, block.mark_count)

    cdef void skip_block(self, const uint64_t* words, uint64_t count, bint traced) noexcept nogil:
        """Passes blocks that are not counted."""
        cdef uint64_t i = 0
        while i < count:
            if words[i] >> 63 == 0:
                self.last = words[i] & BLOCK_MASK
                self.retired += self.table.c.heads[self.last].length
                i += accesses_of(&self.table.c.heads[self.last], words[i]) if traced else 0
            i += 1
