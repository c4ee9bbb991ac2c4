"""Blocks that miss, by what memory answers: see outcomes.pyx."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.machine.script cimport Event, Script

cdef struct Point:               # a question to memory on the way through a block: 24 bytes
    Event event
    uint32_t edges               # the answers that it got, the latest first; 0: none
    uint32_t spare

cdef struct Edge:                # an answer: then its words
    uint32_t other               # the point's next one; 0: it is the last
    uint32_t to                  # the point that follows, or the node of the memo if there is none
    uint32_t words               # of it
    uint32_t is_last

cdef class Outcomes:
    cdef uint64_t* words         # points and edges in the order of their making, which is that of a way through a block;
                                 # the number of each is where it stands
    cdef uint64_t word_count, word_capacity

    # The question of a point, whose answers will be looked at soon.
    cdef const Event* question(self, uint32_t point) noexcept nogil
    # The edge that the script's event of this number took from a point; NULL: it is new.
    cdef const Edge* find(self, uint32_t point, const Script* script, uint32_t number) noexcept nogil
    # A new point; 0 when there is no memory.
    cdef uint32_t add_point(self, const Event* event) noexcept nogil
    # Make a script's way from a point on lead to a node; False when there is no memory.
    cdef bint learn(self, uint32_t point, const Script* script, uint32_t node) noexcept nogil
    cdef uint64_t bytes_used(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef Point* point_at(self, uint32_t point) noexcept nogil
    cdef bint room(self, uint64_t words) noexcept nogil
    cdef uint32_t new_point(self, const Event* event) noexcept nogil
    cdef Edge* new_edge(self, uint32_t point, const Script* script, uint32_t number) noexcept nogil
