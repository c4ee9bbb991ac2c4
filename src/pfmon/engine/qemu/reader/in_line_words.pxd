"""Words that translated code writes in line; see in_line_words.pyx."""

cimport cython

from pfmon.stream._stream cimport Consumer


@cython.final
cdef class InLineWords:
    cdef Describer describer
    cdef Announcements announced
    cdef uint64_t* words         # of the stream, for the consumer
    cdef bint traced
    cdef bint takes_paths        # the consumer does
    cdef uint64_t last           # the last word of a block or a path; 0: there was none
    cdef uint64_t retired        # instructions so far

    cdef bint give(self, Consumer consumer, const uint64_t* words, uint64_t count) noexcept nogil
    cdef uint64_t last_block(self, uint64_t word) noexcept nogil
    cdef bint is_mark(self, uint64_t word, uint64_t last) noexcept nogil
    cdef uint64_t end_of(self, const uint64_t* words, uint64_t count) noexcept nogil
