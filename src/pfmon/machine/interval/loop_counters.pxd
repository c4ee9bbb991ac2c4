"""Loop counters: branches that go one way the same number of times, then once the other way; see loop_counters.pyx."""

cimport cython
from libc.stdint cimport uint16_t, uint32_t, uint64_t, uint8_t


cdef enum:
    LOOP_WAYS = 2                # entries of a set
    SURE_RUNS = 2                # runs of the same length, one after the other, before it is predicted
    MAX_SURE_RUNS = 3

cdef struct LoopCounter:
    uint16_t count               # branches of the current run
    uint16_t length              # of the run before
    uint8_t runs                 # of the same length so far, MAX_SURE_RUNS at most
    uint8_t way                  # the direction of a run; the branch behind it goes the other way


@cython.final
cdef class LoopCounters:
    cdef uint32_t* branches      # by entry: low bits of the hash of its address; 0: the entry is free
    cdef LoopCounter* counters   # by entry
    cdef uint64_t set_mask
    cdef uint32_t longest        # branches of a run, less than this

    cdef bint count(self, uint64_t at, uint64_t hash, bint predicted, bint taken) noexcept nogil
    cdef void begin(self, uint64_t at, uint64_t hash, bint way) noexcept nogil


cdef inline uint64_t loop_set(LoopCounters self, uint64_t hash) noexcept nogil:
    """The first entry of a branch's set."""
    return ((hash ^ hash >> 6) & self.set_mask) * LOOP_WAYS


cdef inline bint has_loop(const uint32_t* branches, uint64_t hash) noexcept nogil:
    """Whether a branch has a counter; ``branches``: those of its set."""
    return (branches[0] == <uint32_t>hash) | (branches[1] == <uint32_t>hash)


cdef inline bint predict_loop(LoopCounters self, uint64_t hash, bint predicted, bint taken) noexcept nogil:
    """Predicts the direction of a branch with a counter that is sure of it, else returns what is ``predicted``; trains.
    A mispredicted branch receives a counter: a run has ended."""
    cdef uint64_t first = loop_set(self, hash)
    if has_loop(self.branches + first, hash):
        return self.count(first, hash, predicted, taken)
    if predicted != taken:
        self.begin(first, hash, not taken)
    return predicted
