"""Blocks that miss, by the responses of memory: see outcomes.pyx."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.machine.script cimport Event, Script

cdef struct Point:               # a request to memory in a block: 24 bytes
    Event event
    uint32_t edges               # its responses so far, the latest first; 0: none
    uint32_t spare

cdef struct Edge:                # a response: then its words
    uint32_t other               # the point's next one; 0: it is the last
    uint32_t to                  # the next point, or the memo's node if there is none
    uint32_t words               # of it
    uint32_t is_last

cdef class Outcomes:
    cdef uint64_t* words         # points and edges in the order of creation, which is that of a path through a block;
                                 # their numbers are their positions
    cdef uint64_t word_count, word_capacity

    # Returns the request of a point, and prefetches its responses.
    cdef const Event* question(self, uint32_t point) noexcept nogil
    # Returns the edge of the script's event of this number at a point; NULL: it is new.
    cdef const Edge* find(self, uint32_t point, const Script* script, uint32_t number) noexcept nogil
    # Adds a point; 0 when there is no memory.
    cdef uint32_t add_point(self, const Event* event) noexcept nogil
    # Adds a script's path from a point to a node; False when there is no memory.
    cdef bint learn(self, uint32_t point, const Script* script, uint32_t node) noexcept nogil
    cdef uint64_t bytes_used(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef Point* point_at(self, uint32_t point) noexcept nogil
    cdef bint room(self, uint64_t words) noexcept nogil
    cdef uint32_t new_point(self, const Event* event) noexcept nogil
    cdef Edge* new_edge(self, uint32_t point, const Script* script, uint32_t number) noexcept nogil
