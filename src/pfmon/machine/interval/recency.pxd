"""Sets of lines, or of translations, in the order in which they were used: the latest first. What stands last makes room
(least recently used). A line that is used again and again is found at once, and nothing changes.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef struct Line:
    uint64_t number              # + 1; 0: the place is free
    int64_t ready                # cycle in which it has come, times two; plus one if it is modified

cdef class Sets:
    cdef Line* lines             # a set's side by side
    cdef readonly uint64_t sets
    cdef uint64_t mask           # sets - 1, or 0 if sets is no power of two
    cdef readonly uint32_t ways, shift

    cdef Line* search(self, Line* first, uint64_t number) noexcept nogil
    cdef Line* bring(self, uint64_t number, Line* gone) noexcept nogil
    cdef int remove(self, uint64_t number) noexcept nogil


cdef inline Line* set_of(Sets sets, uint64_t number) noexcept nogil:
    if sets.mask or sets.sets == 1:
        return sets.lines + (number & sets.mask) * sets.ways
    return sets.lines + number % sets.sets * sets.ways


cdef inline Line* look(Sets sets, uint64_t number) noexcept nogil:
    """The line of a number, which is used now; NULL: it is not there."""
    cdef Line* first = set_of(sets, number)
    if first.number == number + 1:
        return first
    return sets.search(first, number)


cdef inline bint is_latest(Sets sets, uint64_t number) noexcept nogil:
    """Whether a number was used last of all in its set: to use it changes nothing."""
    return set_of(sets, number).number == number + 1


cdef inline int64_t ready_of(const Line* line) noexcept nogil:
    return line.ready >> 1


cdef inline bint is_modified(const Line* line) noexcept nogil:
    return line.ready & 1


cdef inline int64_t packed(int64_t ready, bint modified) noexcept nogil:
    return ready << 1 | modified
