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
