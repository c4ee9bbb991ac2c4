"""The growable table of block shapes, and the base class of the stream's readers."""

from libc.stdlib cimport free, realloc
from libc.string cimport memset


cdef int add_shape(Shapes* shapes, uint64_t number, Shape shape) noexcept nogil:
    """Enter a block; 0 when there is no memory."""
    cdef uint64_t capacity
    cdef Shape* fresh
    if number >= shapes.capacity:
        capacity = (number + 64) * 2
        fresh = <Shape*>realloc(shapes.shapes, capacity * sizeof(Shape))
        if fresh == NULL:
            return 0
        memset(fresh + shapes.capacity, 0, (capacity - shapes.capacity) * sizeof(Shape))
        shapes.shapes = fresh
        shapes.capacity = capacity
    shapes.shapes[number] = shape
    if number >= shapes.count:
        shapes.count = number + 1
    return 1


cdef int add_access(Shapes* shapes, uint8_t instruction, uint8_t condition) noexcept nogil:
    """Enter an access of the block whose shape is entered next; 0 when there is no memory."""
    cdef uint64_t capacity
    cdef Access* fresh
    if shapes.access_count == shapes.access_capacity:
        capacity = (shapes.access_count + 256) * 2
        fresh = <Access*>realloc(shapes.accesses, capacity * sizeof(Access))
        if fresh == NULL:
            return 0
        shapes.accesses = fresh
        shapes.access_capacity = capacity
    shapes.accesses[shapes.access_count].instruction = instruction
    shapes.accesses[shapes.access_count].condition = condition
    shapes.access_count += 1
    return 1


cdef class ShapeTable:
    """The shapes of one engine's blocks."""

    def __dealloc__(self):
        cdef uint64_t number
        for number in range(self.c.count):
            free(self.c.shapes[number].code)
        free(self.c.shapes)
        free(self.c.accesses)

    def __len__(self):
        return self.c.count


cdef class Consumer:
    """The base class takes the words and does nothing: plain execution."""

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        pass

    cdef void follow(self, uint64_t block) noexcept nogil:
        """The next words come right behind this block, which the reader may not have got."""
        pass
