"""Records every word of the stream, in memory."""

cimport cython
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy


@cython.final
cdef class Recorder(Consumer):
    """Records the words of a stream; ``words`` returns them."""

    cdef uint64_t* kept
    cdef uint64_t count
    cdef uint64_t capacity

    def __dealloc__(self):
        free(self.kept)

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        cdef uint64_t capacity
        cdef uint64_t* fresh
        if self.count + count > self.capacity:
            capacity = (self.count + count) * 2
            fresh = <uint64_t*>realloc(self.kept, capacity * sizeof(uint64_t))
            if fresh == NULL:
                self.fail(Failure.OUT_OF_MEMORY)
                return
            self.kept = fresh
            self.capacity = capacity
        memcpy(self.kept + self.count, words, count * sizeof(uint64_t))
        self.count += count

    def load(self, words):
        """Loads words that no engine wrote. MemoryError: there is no room for them."""
        cdef uint64_t word
        for word in words:
            self.consume(&word, 1)
        if self.failure:
            raise MemoryError("there is no room for the stream")

    def words(self) -> list[int]:
        """Returns the words so far, in order (docs/dev/stream.md)."""
        return [self.kept[i] for i in range(self.count)]

    def replay(self, Consumer consumer):
        """Passes everything so far to another reader, in the engine's order."""
        with nogil:                      # as the engine: another thread may want the GIL
            consumer.consume(self.kept, self.count)
