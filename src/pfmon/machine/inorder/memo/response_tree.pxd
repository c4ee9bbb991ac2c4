"""Blocks that miss, by the responses of memory: see response_tree.pyx."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef struct TreePoint:           # a request to memory in a block: 24 bytes
    MemoryEvent event
    uint32_t edges               # its responses so far, the latest first; 0: none
    uint32_t spare

cdef struct TreeEdge:            # a response: then its words
    uint32_t other               # the point's next one; 0: it is the last
    uint32_t to                  # the next point, or the memo's node if there is none
    uint32_t words               # of it
    uint32_t is_last

@cython.final
cdef class ResponseTree:
    cdef uint64_t* words         # points and edges in the order of creation, which is that of a path through a block;
                                 # their numbers are their positions
    cdef uint64_t word_count, word_capacity

    # Returns the request of a point, and prefetches its responses.
    cdef const MemoryEvent* question(self, uint32_t point) noexcept nogil
    # Returns the edge of the script's event of this number at a point; NULL: it is new.
    cdef const TreeEdge* find(self, uint32_t point, const AccessLog* log, uint32_t number) noexcept nogil
    # Adds a point; 0 when there is no memory.
    cdef uint32_t add_point(self, const MemoryEvent* event) noexcept nogil
    # Adds a script's path from a point to a node; False when there is no memory.
    cdef bint learn(self, uint32_t point, const AccessLog* log, uint32_t node) noexcept nogil
    cdef uint64_t bytes_used(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef TreePoint* point_at(self, uint32_t point) noexcept nogil
    cdef bint room(self, uint64_t words) noexcept nogil
    cdef uint32_t new_point(self, const MemoryEvent* event) noexcept nogil
    cdef TreeEdge* new_edge(self, uint32_t point, const AccessLog* log, uint32_t number) noexcept nogil
