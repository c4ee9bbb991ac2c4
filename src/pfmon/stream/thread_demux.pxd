"""The threads of a program on two hardware threads: see thread_demux.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


cdef enum:
    HALVES = 2


cdef struct BegunThread:         # a thread's turn on its hardware thread
    uint64_t retired             # instructions of the hardware thread before
    uint64_t place


@cython.final
cdef class ThreadDemux(Splitter):
    cdef Consumer first, second
    cdef Ring first_ring, second_ring
    cdef uint32_t running        # hardware thread
    cdef bint thread_switches    # the current part ends with a THREAD mark
    cdef uint64_t called_at      # instructions at the latest system call: a thread that retired none since waits
    cdef bint asleep[HALVES]     # all threads of a hardware thread wait
    cdef uint64_t place[HALVES]  # number of the latest thread
    cdef bint used[HALVES]
    cdef BegunThread* turns_begun[HALVES]
    cdef uint64_t turn_count[HALVES]
    cdef uint64_t turn_capacity[HALVES]
    cdef uint64_t counted        # instructions when the running one began
    cdef uint64_t retired_by[HALVES]

    cdef void end_turn(self, uint32_t half) noexcept nogil
    cdef void end_buffer(self, uint32_t buffer_end) noexcept nogil
    cdef void record_turn(self, uint32_t half, uint64_t place) noexcept nogil
    cdef uint64_t retired_in(self, uint32_t half) noexcept nogil
    cdef bint is_thread_switch(self, uint64_t word) noexcept nogil
    cdef void write_half(self, uint32_t half, const uint64_t* words, uint64_t count) noexcept nogil
