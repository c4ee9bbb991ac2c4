"""What a reader of the stream has to know of a block to find the next word (docs/stream.md)."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long) nogil

cdef struct Shape:
    uint64_t access_mask         # bits of the block word whose instructions access memory
    uint32_t accesses            # unconditional accesses
    uint32_t length              # instructions; 0: no such block
    uint64_t first_access        # number of its first access in Shapes.accesses; more follow, in order

cdef struct Access:              # an instruction that accesses memory when it executes
    uint8_t instruction          # its number in the block
    uint8_t condition            # bit 32 + condition of the block's word says that it executed; 255: it always does

cdef struct Shapes:
    Shape* shapes                # by block number
    uint64_t count
    uint64_t capacity
    Access* accesses
    uint64_t access_count
    uint64_t access_capacity

cdef int add_access(Shapes* shapes, uint8_t instruction, uint8_t condition) noexcept nogil
cdef int add_shape(Shapes* shapes, uint64_t number, Shape shape) noexcept nogil


cdef inline uint64_t places(const Shape* shape) noexcept nogil:
    """How many accesses a block makes when all its conditions hold."""
    return shape.accesses + popcount(shape.access_mask)


cdef class ShapeTable:
    """Owns the shapes of one engine's blocks."""

    cdef Shapes c


cdef class Consumer:
    """A reader of the stream. ``words`` is a whole number of blocks with their addresses and marks."""

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil
