"""A block that ran, as the pipeline is told of it."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.machine.predictor cimport Prediction
from pfmon.stream.words cimport BLOCK_MASK

cdef extern from *:
    const uint64_t NO_WINDOW "UINT64_MAX"

cdef enum:
    MOST_SERVED = 32             # accesses that have a place in Run.served

cdef enum:                       # what Run.served says of an integer load
    SERVED_BY_L2 = 1             # in its latency
    SERVED_AHEAD = 2             # L1D did, ahead of accesses before it that wait for the simulation

cdef struct Told:                # what marks say of instructions, a bit for each
    uint64_t failed[2]           # a check load that found no entry in the ALAT
    uint64_t deferred[2]         # a speculative load that delivered NaT
    uint64_t no_page[2]          # ... as its page does not exist
    uint64_t no_address[2]       # ... as its address was a NaT

cdef struct Run:                 # a block that ran
    uint64_t number
    uint64_t word                # of the stream
    const uint64_t* addresses    # of its memory accesses
    const Told* told             # NULL: nothing
    uint64_t ranged[2]           # by access: in the data ranges
    Prediction prediction        # of its branch, if it has one
    uint8_t taken                # its last instruction branched
    uint8_t quick                # all of it went as the memo may know it
    uint32_t made                # accesses that were made before the block is simulated, one after the other
    uint64_t served              # of the first accesses, two bits each: of an integer load who served it, 0 for L1D in
                                 # its turn; of a floating-point load its turn in a bank of L2
    uint64_t first_window
    uint64_t slow_window         # the first window that the front end has to wait for


cdef inline void begin_run(Run* run, uint64_t word, const uint64_t* addresses,
                           uint64_t first_window) noexcept nogil:
    """A block ran; of what else there is to be said nothing is known yet."""
    run.number, run.word, run.addresses, run.told = word & BLOCK_MASK, word, addresses, NULL
    run.ranged[0] = run.ranged[1] = 0
    run.prediction = 0
    run.taken = run.quick = run.made = 0
    run.served, run.slow_window, run.first_window = 0, 0, first_window


cdef inline uint32_t served_as(const Run* run, uint32_t access) noexcept nogil:
    """What `served` has of an access."""
    return run.served >> 2 * access & 3 if access < MOST_SERVED else 0


cdef inline bint was_made(const Run* run, uint32_t access) noexcept nogil:
    """Whether an access was made before the block is simulated."""
    return access < run.made or served_as(run, access) == SERVED_AHEAD


cdef inline bint has_bit(const uint64_t* bits, uint32_t number) noexcept nogil:
    return bits[number >> 6] >> (number & 63) & 1


cdef inline void set_bit(uint64_t* bits, uint32_t number) noexcept nogil:
    bits[number >> 6] |= <uint64_t>1 << (number & 63)
