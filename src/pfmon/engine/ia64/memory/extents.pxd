"""Stretches of an address space that are mapped in one way."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.engine.ia64.memory.frames cimport Page, Spare

cdef class Extent:
    cdef readonly uint64_t start
    cdef readonly uint64_t end
    cdef readonly uint32_t protection
    cdef readonly bint shared            # writes are seen by all that have its pages (MAP_SHARED)
    cdef uint8_t* host                   # of the whole extent; NULL: each page is where ``pages`` says
    cdef Page* pages
    cdef Extent cut(self, uint64_t address)
    cdef int separate(self) except -1
    cdef Extent share(self)
    cdef int own_all(self, Spare* spare) except -1
    cdef void release(self)
