"""A reader of the stream in a thread of its own; see pipe.pyx."""

from libc.stdint cimport int64_t, uint64_t

from pfmon.stream.shapes cimport Consumer, Shapes, ShapeTable

cdef extern from "<semaphore.h>" nogil:
    ctypedef struct sem_t:
        pass
    int sem_init(sem_t*, int, unsigned int)
    int sem_destroy(sem_t*)
    int sem_wait(sem_t*)
    int sem_post(sem_t*)

cdef enum:
    SLOTS = 8
    SLOT_WORDS = 1 << 15

cdef struct Slot:
    uint64_t* words
    uint64_t count
    uint64_t capacity


cdef class Learner(Consumer):
    """A reader that may run beside the engine."""

    # Take over what is new in ``shapes``, in the engine's thread, before words that refer to it come. Words of before
    # may be in work in the reader's thread meanwhile.
    cdef void learn(self, const Shapes* shapes) noexcept nogil


cdef class Pipe(Consumer):
    cdef ShapeTable shapes
    cdef Learner reader
    cdef Consumer beside
    cdef Slot slots[SLOTS]
    cdef uint64_t filling        # slots handed over so far
    cdef sem_t empty
    cdef sem_t full
    cdef bint threaded
    cdef bint ready              # the semaphores exist
    cdef object thread
    cdef readonly bint lost      # memory ran out

    cdef void hand_over(self) noexcept nogil
    cdef bint room(self, uint64_t count) noexcept nogil
    cdef void work(self) noexcept nogil
    cdef void wait(self, sem_t* semaphore) noexcept nogil
