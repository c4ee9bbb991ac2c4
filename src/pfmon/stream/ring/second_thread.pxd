"""Decides whether the stream is read in a second thread: see second_thread.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

cdef struct Spent:               # by one of the two modes
    double seconds               # of processor time
    uint64_t words               # of the stream, read in this time


@cython.final
cdef class SecondThread:
    cdef readonly bint on        # the stream is read in the second thread
    cdef uint32_t turn           # 0: no trial, the last decision holds
    cdef double ends             # time at which the turn ends
    cdef double began            # processor time at its start
    cdef uint64_t words          # of this turn
    cdef uint64_t unseen         # words since the clock was read
    cdef Spent spent[2]          # by `on`
    cdef double turn_seconds, holds

    # Whether the turn of the trial ends with so many more words.
    cdef bint is_turn_over(self, uint64_t count) noexcept nogil
    # Sets `on` for the next turn. Everything so far has been read.
    cdef void begin_turn(self) noexcept nogil
