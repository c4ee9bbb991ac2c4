"""Passes one stream to two readers."""

cimport cython
from libc.stdint cimport uint64_t


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
