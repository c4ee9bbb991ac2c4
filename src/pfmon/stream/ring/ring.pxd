"""A ring of buffers between the writer and the reader of the stream: two threads, or two processes. See ring.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


cdef extern from "<semaphore.h>" nogil:
    ctypedef struct sem_t:
        pass
    int sem_init(sem_t*, int, unsigned int)
    int sem_destroy(sem_t*)
    int sem_wait(sem_t*)
    int sem_post(sem_t*)

cdef enum:
    BUFFERS = 8
    BUFFER_WORDS = 1 << 15

cdef struct Buffer:
    uint64_t count               # 0 in a buffer handed over: the end
    uint64_t words[BUFFER_WORDS]

cdef struct Shared:              # what both sides map
    char magic[8]
    sem_t empty
    sem_t full
    uint64_t filling             # buffers handed over so far
    uint64_t reading             # buffers read so far
    uint32_t failure             # Failure of the writer
    Buffer buffers[BUFFERS]


@cython.final
cdef class Ring:
    cdef Shared* shared
    cdef readonly object descriptor
    cdef bint attached
    cdef RingPair pair           # the pair that it belongs to, or None
    cdef uint32_t number         # its number in the pair

    cdef void hand_over(self) noexcept nogil
    # In a pair: hands the buffer over, since the writer continues in the other ring; ``buffer_end``: BufferEnd.
    cdef void end_buffer(self, uint32_t buffer_end) noexcept nogil


# Passes everything to a consumer, until the writer has finished.
cdef void read_all(Ring ring, Consumer consumer) noexcept nogil


# Waits until everything so far has been read. Called by the writer.
cdef void wait_until_read(Ring ring) noexcept nogil


@cython.final
cdef class RingWriter(Consumer):
    cdef Ring ring


@cython.final
cdef class Reading:
    cdef object over


@cython.final
cdef class Pipe(Consumer):
    cdef RingWriter writer
    cdef Consumer reader
    cdef Consumer beside
    cdef bint threaded
    cdef SecondThread second
    cdef object read
    cdef object thread

    cdef begin(self)
    cdef void choose(self) noexcept nogil
