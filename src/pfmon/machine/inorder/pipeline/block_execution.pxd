"""Execution of a block, as passed to the pipeline."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BLOCK_MASK

cdef extern from *:
    const uint64_t NO_WINDOW "UINT64_MAX"

cdef enum:
    MAX_TRACKED_ACCESSES = 32    # accesses with a field in BlockExecution.served
    MAX_MARKED_INSTRUCTIONS = 128    # of a block (block_plan.pxd, MAX_PLAN_LENGTH)

cdef enum:                       # BlockExecution.served of an integer load
    SERVED_BY_L2 = 1             # with exactly L2's latency
    SERVED_AHEAD = 2             # by L1D, before earlier accesses, which the simulation performs

cdef struct BlockMarks:          # marks of instructions, a bit for each
    uint64_t failed[2]           # a check load that found no entry in the ALAT
    uint64_t deferred[2]         # a speculative load that delivered NaT
    uint64_t no_page[2]          # ... as its page is not mapped
    uint64_t no_address[2]       # ... as its address was a NaT
    uint64_t float_check[2]      # the failed check was of a floating-point register
    uint64_t walked[2]           # of a whole system: the page walker ran for its access (DataTranslation.walks)
    bint is_tiny                 # there were tiny results
    uint8_t flushed[MAX_MARKED_INSTRUCTIONS]    # by instruction: tiny results replaced by zero
    uint8_t kept[MAX_MARKED_INSTRUCTIONS]       # ... not replaced

cdef struct BlockExecution:      # one execution of a block
    uint64_t number
    uint64_t word                # of the stream
    const uint64_t* addresses    # of its memory accesses; of a whole system: tagged (physical_addresses.pyx)
    const uint64_t* named        # ... as the stream has them
    const BlockMarks* block_marks  # NULL: nothing
    uint64_t ranged[2]           # by access: in the data ranges
    Prediction prediction        # of its branch, if it has one
    uint8_t taken                # its last instruction is a taken branch
    uint8_t quick                # memoizable: all of it took the fast path
    uint32_t made                # number of the first accesses, which the fast path performed
    uint64_t served              # of the first accesses, two bits each: SERVED_ of an integer load (0: by L1D, in
                                 # program order); reissues of a floating-point load for its bank of L2
    uint64_t first_window
    uint64_t slow_window         # the first window that the front end has to wait for


cdef inline void begin_execution(BlockExecution* run, uint64_t word, const uint64_t* addresses,
                                 const uint64_t* named, uint64_t first_window) noexcept nogil:
    """Begins an execution of a block; its other fields are not known yet."""
    run.number, run.word, run.addresses, run.block_marks = word & BLOCK_MASK, word, addresses, NULL
    run.named = named
    run.ranged[0] = run.ranged[1] = 0
    run.prediction = 0
    run.taken = run.quick = run.made = 0
    run.served, run.slow_window, run.first_window = 0, 0, first_window


cdef inline uint32_t served_as(const BlockExecution* run, uint32_t access) noexcept nogil:
    """Returns the field of `served` for an access."""
    return run.served >> 2 * access & 3 if access < MAX_TRACKED_ACCESSES else 0


cdef inline bint was_made(const BlockExecution* run, uint32_t access) noexcept nogil:
    """Whether an access was performed before the block is simulated."""
    return access < run.made or served_as(run, access) == SERVED_AHEAD


cdef inline bint has_bit(const uint64_t* bits, uint32_t number) noexcept nogil:
    return bits[number >> 6] >> (number & 63) & 1


cdef inline void set_bit(uint64_t* bits, uint32_t number) noexcept nogil:
    bits[number >> 6] |= <uint64_t>1 << (number & 63)
