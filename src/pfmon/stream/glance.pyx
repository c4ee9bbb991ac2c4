"""A look at a run while it runs, between two buffers of the stream.

Whoever wants to know what there is so far asks from any thread; the engine's thread lets it look when the reader has
taken the buffer at hand, so that nothing changes meanwhile. A buffer that nobody asks about costs a comparison.
"""

from libc.stdint cimport uint64_t

from pfmon.stream.consumer cimport Consumer


cdef class Glance(Consumer):
    """Hands the stream on to ``reader``. After `ask`, ``look`` is called once, in the thread that writes the stream;
    what it raises is kept in ``error``, and it is not called again."""

    cdef Consumer reader
    cdef object look
    cdef bint asked
    cdef readonly object error

    def __cinit__(self, Consumer reader, look):
        self.reader, self.look = reader, look

    def ask(self):
        """Somebody wants to look: from any thread."""
        self.asked = self.error is None

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        self.reader.consume(words, count)
        if self.asked:
            self.asked = False
            with gil:
                try:
                    self.look()
                except Exception as error:
                    self.error = error

    cdef void follow(self, uint64_t block) noexcept nogil:
        self.reader.follow(block)
