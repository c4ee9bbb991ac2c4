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


cdef class ShapeTable:
    """The shapes of one engine's blocks."""

    def __dealloc__(self):
        free(self.c.shapes)

    def __len__(self):
        return self.c.count


cdef class Consumer:
    """The base class takes the words and does nothing: plain execution."""

    cdef void consume(self, const uint64_t* words, uint64_t count) noexcept nogil:
        pass
