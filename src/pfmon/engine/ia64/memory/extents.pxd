"""Ranges of an address space with one mapping."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t


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
