"""Loop counters: branches that go one way the same number of times, then once the other way; see loop_counters.pyx."""

cimport cython
from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t


cdef enum:
    LOOP_WAYS = 2                # entries of a set
    SURE_RUNS = 2                # runs of the same length, one after the other, before it is predicted
    MAX_SURE_RUNS = 3

cdef struct LoopCounter:
    uint32_t branch              # low bits of its address' hash; 0: the entry is free
    uint16_t count               # branches of the current run
    uint16_t length              # of the run before
    uint8_t runs                 # of the same length so far, MAX_SURE_RUNS at most
    uint8_t way                  # the direction of a run; the branch behind it goes the other way


@cython.final
cdef class LoopCounters:
    cdef LoopCounter* counters
    cdef uint64_t set_mask
    cdef uint32_t longest        # branches of a run, less than this

    cdef void begin(self, uint64_t hash, bint way) noexcept nogil


cdef inline bint predict_loop(LoopCounters self, uint64_t hash, bint predicted, bint taken) noexcept nogil:
    """Predicts the direction of a branch with a counter that is sure of it, else returns what is ``predicted``; trains.
    A mispredicted branch receives a counter: a run has ended."""
    cdef LoopCounter* one = &self.counters[((hash ^ hash >> 6) & self.set_mask) * LOOP_WAYS]
    if one.branch != <uint32_t>hash:
        one += 1
        if one.branch != <uint32_t>hash:
            if predicted != taken:
                self.begin(hash, not taken)
            return predicted
    if one.runs >= SURE_RUNS:
        predicted = one.way ^ (one.count == one.length)
    if taken != one.way and one.count == 0:          # twice: that is the way of a run
        one.way, one.count, one.length, one.runs = taken, 2, 0, 0
    elif taken != one.way:
        one.runs = min(<int>MAX_SURE_RUNS, one.runs + 1) if one.count == one.length else 0
        one.length, one.count = one.count, 0
    else:
        one.count += 1
        if one.count >= self.longest:
            one.branch = one.runs = one.length = one.count = 0
    return predicted
