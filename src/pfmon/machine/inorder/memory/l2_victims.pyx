"""Lines that leave L2: through the victim buffers to L3 if they are modified, and out of L1D, which L2 includes."""

from libc.stdint cimport int64_t, uint64_t


cdef class L2Victims:
    """``name``: the table of ``config`` of L2 or L2D; ``split``: code has an L2 of its own."""

    def __cinit__(self, config, str name, L3 l3, bint split):
        self.l3, self.split = l3, split
        self.write_cycles = config["l3.latency"]
        start_queue(&self.buffers, config[f"{name}.victims"])
        start_queue(&self.write_buffers, config["l3.write_buffers"])

    cdef int64_t buffer_cycle(self, TagStore tags, int64_t entry, int64_t now) noexcept nogil:
        if tags.infos[entry].state != MODIFIED:
            return now
        return first_free_cycle(&self.buffers, mshr_free_cycle(&self.leaving, now))

    cdef void evict_line(self, EventLog* event_log, TagStore tags, int64_t entry, bint for_code, int64_t now,
                         int64_t filled) noexcept nogil:
        cdef int64_t written
        cdef Mshr* leaving
        cdef uint64_t evicted = tags.numbers[entry] << tags.shift
        cdef int state = tags.infos[entry].state
        if state == INVALID:
            return
        if state == MODIFIED:
            record(event_log, Occurrence.L2_WRITE_BACK, 1)
            now = first_free_cycle(&self.buffers, now)
            written = first_free_cycle(&self.write_buffers, filled)
            enter_queue(&self.buffers, now, written)
            enter_queue(&self.write_buffers, written, written + self.write_cycles)
            leaving = allocate_mshr(&self.leaving, tags.numbers[entry], now, written)
            leaving.asked_by = ASKED_BY_FETCH if for_code else ASKED_BY_DATA
            self.l3.write_back(event_log, evicted, now, written)
        if self.split and for_code:
            record(event_log, Occurrence.L2I_REPLACED, 1)
        elif self.first_level is not None:
            self.invalidate_first_level(evicted, <uint64_t>1 << tags.shift)

    cdef void invalidate_first_level(self, uint64_t line, uint64_t size) noexcept nogil:
        cdef uint64_t part = line
        cdef int64_t inner
        if self.first_level is None:
            return
        while part < line + size:
            inner = quick_find(self.first_level, part)
            if inner == ABSENT and self.other_thread:
                inner = quick_find(self.first_level, part | self.other_thread)
            if inner != ABSENT:
                self.first_level.clear(inner)
            part += <uint64_t>1 << self.first_level.shift
