"""Two rings that one writer fills in turn and one reader reads in any order: see ring_pair.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass
    int pthread_mutex_init(pthread_mutex_t*, const void*)
    int pthread_mutex_destroy(pthread_mutex_t*)
    int pthread_mutex_lock(pthread_mutex_t*)
    int pthread_mutex_unlock(pthread_mutex_t*)
    int pthread_cond_init(pthread_cond_t*, const void*)
    int pthread_cond_destroy(pthread_cond_t*)
    int pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*)
    int pthread_cond_broadcast(pthread_cond_t*)

cdef enum:
    PAIR_BUFFERS = 8             # ring.pxd, BUFFERS

cdef enum BufferState:           # of a ring: result of wait_for_buffer
    A_BUFFER = 0
    NOTHING_NOW = 1              # the ring stays empty until the other ring is read
    THE_END = 2

cdef enum BufferEnd:             # event after the last word of a buffer
    GOES_ON = 0                  # none
    WAKES_OTHER = 1              # the thread of the other ring wakes
    SLEEPS = 2                   # the thread of this ring sleeps
    INTERRUPTS_OTHER = 4         # an external interrupt arrives at the thread of the other ring


@cython.final
cdef class RingPair:
    cdef pthread_mutex_t mutex
    cdef pthread_cond_t changed
    cdef uint32_t full[2]        # buffers ready to be read
    cdef bint finished[2]        # the writer has ended
    cdef int awaited             # ring in which the writer waits for room; -1: none
    cdef uint32_t buffer_ends[2][PAIR_BUFFERS]
    cdef uint32_t next_end[2]    # of the next buffer handed over
    cdef readonly bint on_demand # the writer fills the ring that the reader waits for, and that one alone
    cdef int demanded            # this ring; -1: the reader does not wait
    cdef uint64_t next_ip[2]     # the instruction behind the last buffer
    cdef int64_t cycle[2]        # the reader's cycle at that instruction

    # Writer's side: hands a buffer over; returns when there is room for the next one.
    cdef void hand_over(self, uint32_t ring, uint64_t buffer) noexcept nogil
    cdef void finish(self, uint32_t ring) noexcept nogil
    # Reader's side.
    cdef BufferState wait_for_buffer(self, uint32_t ring) noexcept nogil
    cdef void release_buffer(self, uint32_t ring) noexcept nogil
    # Waits until the writer is done or blocked; returns whether there is something to read.
    cdef bint wait_for_writer(self, uint32_t ring) noexcept nogil
