"""What a reader of the stream has to know of a block to find the next word (docs/stream.md)."""

from libc.stdint cimport uint32_t, uint64_t

cdef struct Shape:
    uint64_t access_mask         # bits of the block word whose instructions access memory
    uint32_t accesses            # unconditional accesses
    uint32_t length              # instructions; 0: no such block

cdef struct Shapes:
    Shape* shapes                # by block number
    uint64_t count
    uint64_t capacity

cdef int add_shape(Shapes* shapes, uint64_t number, Shape shape) noexcept nogil


cdef class ShapeTable:
    """Owns the shapes of one engine's blocks."""

    cdef Shapes c


cdef class Consumer:
    """A reader of the stream. ``words`` is a whole number of blocks with their addresses and marks."""

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil
