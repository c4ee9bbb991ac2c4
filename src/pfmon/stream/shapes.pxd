"""What a reader of the stream has to know of a block to find the next word (docs/stream.md)."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long) nogil

cdef struct Code:                # an instruction, as much as a machine has to know of it
    uint64_t address             # bundle address | slot
    uint64_t encoding            # as BlockRecord has it
    int64_t imm                  # first immediate operand: a branch's target, alloc's size of frame
    int64_t y                    # second: alloc's size of locals
    uint32_t kind                # stream.kinds.Kind
    uint32_t isa_kind            # stream.ia64.Ia64Kind: of the encoding, and of the instruction in its place
    uint32_t row                 # number of its encoding among the engine's; NO_ROW: reserved
    uint16_t x                   # small operand: alloc's size of the rotating part
    uint8_t r1, r2, r3, r4, qp   # register numbers, as encoded
    uint8_t unit                 # type of its slot: 0 M, 1 I, 2 F, 3 B, 4 X for the two of a long instruction
    uint8_t condition            # bit 32 + condition of the block's word says that it executed; 255: it always does
    uint8_t stop                 # followed by a stop
    uint8_t access               # 1: accesses memory when it executes
    uint8_t multiway             # 1: a branch in a bundle that holds more than one

cdef enum:
    NO_ROW = 0xFFFFFFFF

cdef struct Shape:
    uint64_t access_mask         # bits of the block word whose instructions access memory
    uint32_t accesses            # unconditional accesses
    uint32_t length              # instructions; 0: no such block
    uint32_t cut                 # as BlockRecord.cut
    uint64_t first_access        # number of its first access in Shapes.accesses; more follow, in order
    Code* code                   # its instructions; they stay where they are

cdef struct Access:              # an instruction that accesses memory when it executes
    uint8_t instruction          # its number in the block
    uint8_t condition            # bit 32 + condition of the block's word says that it executed; 255: it always does

cdef struct Shapes:
    Shape* shapes                # by block number
    uint64_t count               # every number below it has a shape
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
    cdef void follow(self, uint64_t block) noexcept nogil
