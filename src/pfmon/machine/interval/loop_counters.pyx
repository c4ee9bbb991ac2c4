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
        if self.counters == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.counters)

    cdef void begin(self, uint64_t hash, bint way) noexcept nogil:
        """Gives a branch a counter, in place of the least sure of its set, which becomes less sure if it is sure."""
        cdef LoopCounter* one = &self.counters[((hash ^ hash >> 6) & self.set_mask) * LOOP_WAYS]
        if one[1].runs <= one[0].runs:
            one += 1
        if one.runs:
            one.runs -= 1
            return
        one.branch, one.way, one.count, one.length = <uint32_t>hash, way, 0, 0
