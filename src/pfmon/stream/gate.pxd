"""A reader of the stream between the engine and others; see gate.pyx."""

from libc.stdint cimport uint64_t

from pfmon.stream.shapes cimport Consumer, ShapeTable
from pfmon.stream.switches cimport Switches


cdef class Gate(Consumer):
    cdef list keep                       # of what the pointers below point to
    cdef ShapeTable shapes
    cdef Consumer reader
    cdef Consumer witness
    cdef bint traced
    cdef uint64_t last                   # number of the block that came last
    cdef Switches switches

    cdef void pass_on(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void resume(self) noexcept nogil
