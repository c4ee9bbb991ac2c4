"""Evictions between two hardware threads: see thread_evictions.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t


@cython.final
cdef class ThreadEvictions:
    cdef uint64_t* entries       # (number + 1) << 1 | GONE, an open hash table of all evictions by the other thread
    cdef uint64_t mask, count
    cdef uint64_t missed[2]      # by thread
    cdef readonly bint lost      # sticky: there was no memory

    # ``number`` is filled and replaces ``old``, unless the slot was free; ``shift``: of the numbers.
    cdef void replaced(self, uint64_t number, uint64_t old, uint32_t shift) noexcept nogil
    cdef uint64_t slot_of(self, uint64_t number) noexcept nogil
    cdef bint grow(self) noexcept nogil
