"""Whether a second thread pays: see second_thread.pyx."""

from libc.stdint cimport uint32_t, uint64_t

cdef struct Spent:               # in one of the two ways
    double seconds               # of processors
    uint64_t words               # of the stream, read in these


cdef class SecondThread:
    cdef readonly bint on        # the stream is read in the second thread
    cdef uint32_t turn           # 0: none, what was decided holds
    cdef double ends             # when the turn does
    cdef double began            # processor time then
    cdef uint64_t words          # of this turn
    cdef uint64_t unseen         # words since the clock was looked at
    cdef Spent spent[2]          # by `on`
    cdef double turn_seconds, holds

    # Whether a turn is over, with so many more words.
    cdef bint over(self, uint64_t count) noexcept nogil
    # What comes next: sets `on`. Everything so far was read.
    cdef void go_on(self) noexcept nogil
