"""Readers of the stream: their base classes, and one that passes it to two."""

cimport cython
from libc.stdint cimport uint64_t


cdef class Consumer:
    """The base class takes the words and does nothing: plain execution."""

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        pass

    cdef void follow(self, uint64_t block) noexcept nogil:
        """Sets the block before the next words, which the reader may not have received."""
        pass

    cdef bint take_paths(self, PathTable paths) noexcept:
        return False

    cdef void fail(self, Failure why) noexcept nogil:
        """Records a failure; the first one is kept."""
        if self.failure == Failure.NO_FAILURE:
            self.failure = why


cdef class EventSetConsumer(Consumer):
    """The base class ignores the event set."""

    cdef void use_event_set(self, uint32_t event_set) noexcept nogil:
        pass


cdef class RunCounter(Consumer):
    """The base class counts nothing."""

    cdef bint room(self) noexcept nogil:
        return True

    cdef void add_runs_of(self, uint64_t word, uint64_t runs) noexcept nogil:
        pass

    cdef void add_marked(self, uint64_t word, uint64_t block) noexcept nogil:
        pass


@cython.final
cdef class Tee(Consumer):
    """Passes the stream to ``first``, then to ``second``."""

    cdef Consumer first, second

    def __cinit__(self, Consumer first, Consumer second):
        self.first, self.second = first, second

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        self.first.consume(words, count)
        self.second.consume(words, count)

    cdef void follow(self, uint64_t block) noexcept nogil:
        self.first.follow(block)
        self.second.follow(block)
