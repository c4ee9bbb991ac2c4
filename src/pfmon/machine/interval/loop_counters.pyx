"""Loop counters, as Pentium M, Core 2 and Nehalem have them (A. Fog, The microarchitecture of Intel, AMD and VIA CPUs,
branch prediction: 128 entries in two ways, loops of up to 64 branches).

That a length has to repeat before it is predicted, and which entry of a set makes room, are assumptions.
"""

cimport cython
from libc.stdlib cimport calloc, free


@cython.final
cdef class LoopCounters:
    """``entries`` counters of branches whose runs are shorter than ``longest``."""

    def __cinit__(self, uint32_t entries, uint32_t longest):
        self.set_mask, self.longest = entries // LOOP_WAYS - 1, longest
        self.counters = <LoopCounter*>calloc(entries, sizeof(LoopCounter))
        self.branches = <uint32_t*>calloc(entries, sizeof(uint32_t))
        if self.counters == NULL or self.branches == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.counters)
        free(self.branches)

    cdef bint count(self, uint64_t at, uint64_t hash, bint predicted, bint taken) noexcept nogil:
        """Counts a branch that has a counter; returns the predicted direction. ``at``: the first entry of its set."""
        cdef LoopCounter* one
        at += self.branches[at] != <uint32_t>hash
        one = &self.counters[at]
        if one.runs >= SURE_RUNS:
            predicted = one.way ^ (one.count == one.length)
        if taken == one.way:
            one.count += 1
            if one.count >= self.longest:
                self.branches[at] = one.runs = 0
        elif one.count == 0:                     # twice: that is the way of a run
            one.way, one.count, one.length, one.runs = taken, 2, 0, 0
        else:
            one.runs = min(<int>MAX_SURE_RUNS, one.runs + 1) if one.count == one.length else 0
            one.length, one.count = one.count, 0
        return predicted

    cdef void begin(self, uint64_t at, uint64_t hash, bint way) noexcept nogil:
        """Gives a branch a counter, in place of the least sure of its set, which becomes less sure if it is sure."""
        cdef LoopCounter* one
        at += self.counters[at + 1].runs <= self.counters[at].runs
        one = &self.counters[at]
        if one.runs:
            one.runs -= 1
            return
        self.branches[at] = <uint32_t>hash
        one.way, one.count, one.length = way, 0, 0
