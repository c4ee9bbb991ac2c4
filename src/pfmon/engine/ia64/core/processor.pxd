"""One IA-64 processor and the loop that drives it."""

cimport cython
from libc.stdint cimport int64_t, uint64_t

from pfmon.stream._stream cimport BlockTable, Consumer

@cython.final
cdef class Processor:
    cdef Cpu* cpu
    cdef BlockCache* blocks
    cdef uint64_t* buffer
    cdef uint64_t* buffer_end
    cdef readonly AddressSpace memory
    cdef readonly BlockTable table
    cdef readonly bint traced
    cdef uint64_t stop_at
    cdef uint64_t exact_at               # as stop_at, also within a block
    cdef uint64_t polls
    cdef object raised                   # exception of a signal handler while the program ran
    cdef uint64_t* next_limit(self) noexcept nogil
    cdef void poll(self) noexcept nogil
    cdef int drive(self, Consumer consumer, bint single) noexcept nogil
