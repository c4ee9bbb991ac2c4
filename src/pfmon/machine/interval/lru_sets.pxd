"""Sets of lines, or of translations, in order of use: the most recent first; the last is the victim (LRU). Repeated
uses of the most recent line change nothing.
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:                       # bits of LruLine.ready
    LINE_MODIFIED = 1
    LINE_SHARED = 2              # other cores have it, too
    LINE_TIME = 2                # the cycle of its arrival is above these bits

cdef struct LruLine:
    uint64_t number              # + 1; 0: the way is free
    int64_t ready                # cycle of its arrival, and LINE_MODIFIED, LINE_SHARED

cdef struct LruRows:             # the sets, for frequent lookups
    LruLine* lines               # a set's side by side
    uint64_t mask                # number of sets - 1
    uint64_t divisor             # number of sets if that is no power of two, else 0
    uint32_t ways

@cython.final
cdef class LruSets:
    cdef LruRows rows
    cdef readonly uint64_t sets
    cdef readonly uint32_t ways, shift

    cdef int remove(self, uint64_t number) noexcept nogil


cdef inline LruLine* lru_set(const LruRows* rows, uint64_t number) noexcept nogil:
    cdef uint64_t set_index = number % rows.divisor if rows.divisor else number & rows.mask
    return rows.lines + set_index * rows.ways


cdef inline LruLine* find(const LruRows* rows, uint64_t number) noexcept nogil:
    """Returns the line of a number, without changing its recency; NULL: it is not there."""
    cdef LruLine* first = lru_set(rows, number)
    cdef uint32_t way
    for way in range(rows.ways):
        if first[way].number == number + 1:
            return first + way
    return NULL


cdef inline LruLine* search(LruLine* first, uint32_t ways, uint64_t number) noexcept nogil:
    """`look`, for lines that are not the most recent of their set."""
    cdef LruLine found
    cdef uint32_t way
    for way in range(1, ways):
        if first[way].number == number + 1:
            found = first[way]
            while way:
                first[way] = first[way - 1]
                way -= 1
            first[0] = found
            return first
    return NULL


cdef inline LruLine* use_line(const LruRows* rows, uint64_t number) noexcept nogil:
    """Returns the line of a number and makes it the most recent; NULL: it is not there."""
    cdef LruLine* first = lru_set(rows, number)
    if first.number == number + 1:
        return first
    return search(first, rows.ways, number)


cdef inline LruLine* insert_line(const LruRows* rows, uint64_t number, LruLine* evicted) noexcept nogil:
    """Fills a number that is not there; ``evicted``: the victim, with number 0 if there was none."""
    cdef LruLine* first = lru_set(rows, number)
    cdef uint32_t way = rows.ways - 1
    if first[way].number == 0:           # free ways follow the lines
        while way and first[way - 1].number == 0:
            way -= 1
    evicted[0] = first[way]
    while way:
        first[way] = first[way - 1]
        way -= 1
    first.number, first.ready = number + 1, 0
    return first


cdef inline int64_t ready_of(const LruLine* line) noexcept nogil:
    return line.ready >> LINE_TIME


cdef inline bint is_modified(const LruLine* line) noexcept nogil:
    return line.ready & LINE_MODIFIED


cdef inline bint is_shared(const LruLine* line) noexcept nogil:
    return line.ready & LINE_SHARED != 0


cdef inline int64_t packed(int64_t ready, bint modified) noexcept nogil:
    return ready << LINE_TIME | modified
