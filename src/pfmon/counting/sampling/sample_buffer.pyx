"""Buffers samples until the buffer is full, then passes them on as Python objects."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc

cdef enum:
    INITIAL_SAMPLES = 256


cdef class SampleBuffer(SampleListener):
    """``make`` makes an object of (iip, stamp, PMDs that overflowed, last period, event set, (PMD, value) pairs, calls)
    and of the number of retired instructions; ``on_buffer`` gets a list of them whenever there are ``entries``, and the
    rest from `flush`.
    ``saturate``: the first full buffer is the last one."""

    def __cinit__(self, make, on_buffer, uint64_t entries, bint saturate=False):
        self.make, self.on_buffer = make, on_buffer
        self.entries, self.saturate = entries, saturate
        self.more = []

    def __dealloc__(self):
        free(self.held)
        free(self.pmds)
        free(self.values)

    cdef bint refuses(self) noexcept nogil:
        if self.saturate and self.samples >= self.entries:
            self.lost += 1
            return True
        return False

    def on_sample_extra(self, registers, calls):
        self.more.append((registers, calls))
        self.has_more = True

    cdef bint on_sample(self, const Sampled* sample) noexcept nogil:
        cdef SampleEntry* entry
        cdef uint32_t i
        if not self.room(sample.values):
            self.out_of_memory = True
            return False
        entry = &self.held[self.count]
        entry.iip, entry.stamp, entry.overflowed, entry.last = sample.iip, sample.stamp, sample.overflowed, sample.last
        entry.retired = sample.retired
        entry.event_set, entry.values, entry.first = sample.event_set, sample.values, self.value_count
        for i in range(sample.values):
            self.pmds[self.value_count + i], self.values[self.value_count + i] = sample.pmds[i], sample.counts[i]
        entry.has_more, self.has_more = self.has_more, False
        self.value_count += sample.values
        self.count += 1
        self.samples += 1
        if self.count < self.entries:
            return False
        with gil:
            try:
                self.flush()
            except BaseException as error:   # raised again when the run has ended
                self.error = error
        return True

    cdef bint room(self, uint32_t values) noexcept nogil:
        """Reserves room for another sample with so many values."""
        cdef uint64_t capacity
        cdef void* fresh
        if self.count == self.capacity:
            capacity = 2 * self.capacity if self.capacity else INITIAL_SAMPLES
            fresh = realloc(self.held, capacity * sizeof(SampleEntry))
            if fresh == NULL:
                return False
            self.held, self.capacity = <SampleEntry*>fresh, capacity
        if self.value_count + values > self.value_capacity:
            capacity = 2 * self.value_capacity + values + INITIAL_SAMPLES
            fresh = realloc(self.pmds, capacity * sizeof(uint32_t))
            if fresh == NULL:
                return False
            self.pmds = <uint32_t*>fresh
            fresh = realloc(self.values, capacity * sizeof(int64_t))
            if fresh == NULL:
                return False
            self.values, self.value_capacity = <int64_t*>fresh, capacity
        return True

    def flush(self):
        """Passes the buffered samples on."""
        cdef uint64_t k, told = 0, count = self.count
        cdef uint32_t i
        cdef SampleEntry* entry
        cdef dict numbers = {}
        cdef list made = [], more = self.more
        self.more = []
        for k in range(count):
            entry = &self.held[k]
            overflowed = numbers.get(entry.overflowed)
            if overflowed is None:
                overflowed = tuple([i for i in range(64) if entry.overflowed >> i & 1])
                numbers[entry.overflowed] = overflowed
            pmds = tuple([(self.pmds[entry.first + i], self.values[entry.first + i]) for i in range(entry.values)])
            calls = ()
            if entry.has_more:
                registers, calls = more[told]
                told += 1
                if registers:
                    pmds = tuple(sorted(pmds + registers))
            made.append(self.make((entry.iip, entry.stamp, overflowed, entry.last, entry.event_set, pmds, calls),
                                  entry.retired))
        self.count = self.value_count = 0
        if made:
            self.on_buffer(made)
