"""Reads the progress of a run while it runs, between two buffers of the stream.

Any thread may request it; the engine's thread calls the probe when the reader has finished the current buffer, so that
nothing changes meanwhile. A buffer without a request costs a comparison.
"""

cimport cython
from libc.stdint cimport uint64_t


@cython.final
cdef class ProgressProbe(Consumer):
    """Passes the stream on to ``reader``. After `request_snapshot`, ``look`` is called once, in the thread that writes
    the stream; an exception from it is kept in ``error`` and ends further calls."""

    cdef Consumer reader
    cdef object look
    cdef bint asked
    cdef readonly object error

    def __cinit__(self, Consumer reader, look):
        self.reader, self.look = reader, look

    def request_snapshot(self):
        """Requests one call of the probe; from any thread."""
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
