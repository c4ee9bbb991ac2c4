"""Counts of taken branches by source and target: see branch_edges.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport BlockTable, Consumer

cdef struct EdgeCount:           # source 0: free
    uint64_t source, target, count


@cython.final
cdef class BranchEdges(Consumer):
    cdef BlockTable table
    cdef bint traced
    cdef uint32_t recorded       # bits of MSR_LBR_SELECT: kinds of branches that are counted
    cdef EdgeCount* edges        # a hash table
    cdef uint64_t used, capacity
    cdef uint64_t source         # the taken branch that ended the last block of the running thread; 0: none did
    cdef uint64_t* sources       # ... of the other threads, by number
    cdef uint64_t thread, thread_count

    cdef void switch_to(self, uint64_t thread) noexcept nogil
    cdef void count_edge(self, uint64_t target) noexcept nogil
    cdef EdgeCount* place_of(self, uint64_t source, uint64_t target) noexcept nogil
    cdef bint grow(self) noexcept nogil
