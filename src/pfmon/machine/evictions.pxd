"""Who replaced what: see evictions.pyx."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef class Evictions:
    cdef uint64_t* numbers       # + 1, an open hash table of what was replaced by the other thread, once or now
    cdef uint8_t* gone           # by place of it: it has not come back yet
    cdef uint64_t mask, count
    cdef uint64_t missed[2]      # by thread
    cdef readonly bint lost      # sticky: there was no memory

    # ``number`` comes, and replaces ``old``, unless the place was free; ``shift``: of the numbers.
    cdef void replaced(self, uint64_t number, uint64_t old, uint32_t shift) noexcept nogil
    cdef uint64_t place_of(self, uint64_t number) noexcept nogil
    cdef bint grow(self) noexcept nogil
