"""Overflow handling of a driver (perfmon): takes a sample and loads the counters with their next periods.

For speed it works on the countdowns (live_counting.pyx), not on registers. A counter that overflows has counted its
period; its excess increments do not count for the next one.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef class SampleListener:
    """The base class refuses no sample, and keeps none. A subclass in Cython gets samples without the GIL. Before
    `on_sample`, `on_sample_extra` gets the parts of the sample that are Python objects: (number, value) of the registers
    in the sample, and the call stack."""

    def on_sample_extra(self, registers, calls):
        pass

    cdef bint on_sample(self, const Sampled* sample) noexcept nogil:
        return False

    cdef bint refuses(self) noexcept nogil:
        return False


cdef class Sampler:
    """``counters``: for each monitor its PMD and its period (session.sampling.Period; None: it only counts); ``width``:
    bits of a counter; ``reset``: PMDs of those that only count, and whose samples hold the count since the sample
    before."""

    def __cinit__(self, SampleListener listener, counters, uint32_t width, reset=(), uint32_t event_set=0):
        cdef SampledCounter* counter
        self.listener, self.event_set = listener, event_set
        self.limit = <int64_t>1 << width
        for pmd, period in counters:
            if self.count == MAX_SAMPLED_COUNTERS:
                raise ValueError(f"there is room for {MAX_SAMPLED_COUNTERS} counters")
            counter = &self.counters[self.count]
            counter.pmd, counter.sampled, counter.reset = pmd, period is not None, pmd in reset
            if period is None:
                self.value_pmds[self.values], self.value_counters[self.values] = pmd, self.count
                self.values += 1
            else:
                counter.long_period, counter.short_period = period.long, period.short
                counter.mask, counter.random = period.mask, period.seed
            self.count += 1

    cdef int64_t load(self, uint32_t counter, bint after_full) noexcept nogil:
        """Returns what is left of a counter's next period."""
        cdef SampledCounter* one = &self.counters[counter]
        if not one.sampled:
            return self.limit
        one.loaded = (one.long_period if after_full else one.short_period) + <int64_t>(one.random & one.mask)
        one.random = next_random(one.random)
        return one.loaded

    cdef bint overflow(self, uint64_t wrapped, uint64_t address, uint64_t stamp, uint64_t retired,
                       const int64_t* counted, int64_t* left) noexcept nogil:
        """Handles the overflow of these monitors' counters; False: ended by the listener's exception."""
        cdef Sampled sample
        cdef int64_t counts[MAX_SAMPLED_COUNTERS]
        cdef uint32_t m, i
        cdef bint full = False
        sample.overflowed, sample.last = 0, 0
        for m in range(self.count):
            if wrapped >> m & 1 and self.counters[m].sampled:
                if not sample.overflowed:
                    sample.last = self.counters[m].loaded
                sample.overflowed |= <uint64_t>1 << self.counters[m].pmd
        if sample.overflowed and not self.listener.refuses():
            for i in range(self.values):
                m = self.value_counters[i]
                counts[i] = counted[m] - self.counters[m].marked
                if self.counters[m].reset:
                    self.counters[m].marked = counted[m]
            self.address, self.overflowed = address, sample.overflowed
            if self.extra is not None and not self.add_extra():
                return False
            sample.iip, sample.event_set = address, self.event_set
            sample.stamp, sample.retired = stamp, retired
            sample.values, sample.pmds, sample.counts = self.values, self.value_pmds, counts
            full = self.listener.on_sample(&sample)
        for m in range(self.count):
            if wrapped >> m & 1:
                left[m] = self.load(m, full)
        return self.listener.error is None

    def loads(self):
        """Events until each counter's first overflow; None: it has no period."""
        return [self.load(m, False) if self.counters[m].sampled else None for m in range(self.count)]

    def sample(self, monitors, uint64_t address, uint64_t stamp, uint64_t retired, counted):
        """Handles the overflow of these monitors' counters, given all counts; returns by monitor the events until the
        next overflow. Raises the listener's exception."""
        cdef int64_t counts[MAX_SAMPLED_COUNTERS]
        cdef int64_t left[MAX_SAMPLED_COUNTERS]
        cdef uint64_t wrapped = 0
        cdef uint32_t m
        for m in range(self.count):
            counts[m] = counted[m]
        for m in monitors:
            wrapped |= <uint64_t>1 << m
        self.overflow(wrapped, address, stamp, retired, counts, left)
        if self.listener.error is not None:
            raise self.listener.error
        return {m: left[m] for m in monitors}

    cdef bint add_extra(self) noexcept nogil:
        """Adds the parts of the sample that only Python has; False: that failed."""
        with gil:
            try:
                registers, calls = self.extra()
                self.listener.on_sample_extra(registers, calls)
            except BaseException as error:   # raised again when the run has ended
                self.listener.error = error
                return False
        return True
