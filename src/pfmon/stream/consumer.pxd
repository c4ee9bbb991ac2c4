"""A reader of the stream."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream.failure cimport Failure


cdef class Consumer:
    """``consume`` takes words: a whole number of blocks with their addresses and marks. ``failure`` is sticky."""

    cdef readonly Failure failure

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void follow(self, uint64_t block) noexcept nogil
    cdef void fail(self, Failure why) noexcept nogil


cdef class EventSetConsumer(Consumer):
    """A reader that keeps what it records apart, by event set."""

    # From the next instruction on this event set is in force.
    cdef void use_event_set(self, uint32_t event_set) noexcept nogil


cdef class RunCounter(Consumer):
    """A reader that can be told what it would count in a stream: a machine does, which knows it anyway."""

    # Room for every block that has been entered; first of all.
    cdef bint room(self) noexcept nogil
    # A block ran so often, and with the conditions of this word of the stream.
    cdef void add_runs_of(self, uint64_t word, uint64_t runs) noexcept nogil
    # A mark behind a block, whose number this is.
    cdef void add_marked(self, uint64_t word, uint64_t block) noexcept nogil
