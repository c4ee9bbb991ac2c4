"""The memory of one guest process, and its ranges with one mapping."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t, uint8_t

@cython.final
cdef class AddressSpace:
    cdef MemoryMap c
    cdef Cpu* cpu
    cdef list extents
    cdef readonly uint64_t limit
    cdef readonly uint64_t mapped
    cdef attach(self, Cpu* cpu)
    cdef _publish(self)
    cdef _copy(self, uint64_t address, uint8_t* data, uint64_t length, uint32_t protection, bint write)
    cdef _put(self, uint64_t start, uint8_t* data, uint64_t length, protection)

@cython.final
cdef class Extent:
    cdef readonly uint64_t start
    cdef readonly uint64_t end
    cdef readonly uint32_t protection
    cdef readonly bint shared            # all address spaces with its pages see writes (MAP_SHARED)
    cdef uint8_t* host                   # of the whole extent; NULL: ``pages`` has each page's address
    cdef PageFrame* pages
    cdef Extent cut(self, uint64_t address)
    cdef int separate(self) except -1
    cdef Extent share(self)
    cdef int make_all_private(self, SpareFrames* spare) except -1
    cdef void release(self)
