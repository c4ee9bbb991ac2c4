"""A reader of the stream, and its failures."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


cpdef enum Failure:              # sticky, so that incomplete counts are never shown; of writers, too
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1            # an array could not grow
    TOO_MANY_BLOCKS = 2          # the block table is full
    TOO_MANY_MARKS = 3           # one block has more marks than there is room for
    TOO_MANY_OCCURRENCES = 4     # more in one cycle than there is room for
    TOO_MANY_WORDS = 5           # a piece of the stream that does not fit into the ring
    BAD_STREAM = 6               # an invalid word
    CANNOT_WRITE = 7             # a recording's file
    TOO_MANY_ENTRIES = 8         # a queue or level of the machine exceeded its capacity
    BLOCK_TOO_LONG = 9           # a block has more instructions or accesses than the machine takes
    TOO_MANY_REGIONS = 10        # a program uses more regions of 4 GB than a machine's caches tell apart


cdef class Consumer:
    """``consume`` takes words: a whole number of blocks with their addresses and marks. ``failure`` is sticky."""

    cdef readonly Failure failure

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void follow(self, uint64_t block) noexcept nogil
    # Whether it takes words of these paths, whose numbers have PATH_BIT, instead of those of their blocks.
    cdef bint take_paths(self, PathTable paths) noexcept
    @cython.final
    cdef void fail(self, Failure why) noexcept nogil


cdef class EventSetConsumer(Consumer):
    """A reader that records separately for each event set."""

    # Switches to this event set before the next instruction.
    cdef void use_event_set(self, uint32_t event_set) noexcept nogil


cdef class RunCounter(Consumer):
    """A reader that accepts totals, which a machine computes, instead of the stream."""

    # Reserves room for every entered block; called first.
    cdef bint room(self) noexcept nogil
    # Adds runs of a block with the conditions of this word of the stream.
    cdef void add_runs_of(self, uint64_t word, uint64_t runs) noexcept nogil
    # Adds a mark after the block of this number.
    cdef void add_marked(self, uint64_t word, uint64_t block) noexcept nogil
