"""What two hardware threads replace of each other's in a cache or TLB, and what each brings again because of it.

Processors cannot count that: exact figures of what sharing costs (docs/smt.md). A line counts when it comes back, once for
each time that the other thread replaced it. What goes with something else (lines of L1D with their translation or with L2's
line) counts there.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from pfmon.machine.address_bits cimport ALONE, thread_of
from pfmon.machine.tags cimport NO_NUMBER

cdef enum:
    FIRST_PLACES = 1024
    HASH_SHIFT = 20

cdef uint64_t HASH = 0x9E3779B97F4A7C15


cdef class Evictions:
    """Of one cache or TLB."""

    def __cinit__(self):
        self.mask = FIRST_PLACES - 1
        self.numbers = <uint64_t*>calloc(FIRST_PLACES, sizeof(uint64_t))
        self.gone = <uint8_t*>calloc(FIRST_PLACES, 1)
        if self.numbers == NULL or self.gone == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.numbers)
        free(self.gone)

    cdef uint64_t place_of(self, uint64_t number) noexcept nogil:
        cdef uint64_t place = (number * HASH >> HASH_SHIFT) & self.mask
        while self.numbers[place] and self.numbers[place] != number + 1:
            place = (place + 1) & self.mask
        return place

    cdef void replaced(self, uint64_t number, uint64_t old, uint32_t shift) noexcept nogil:
        cdef uint64_t place = self.place_of(number & ~ALONE)
        if self.gone[place]:
            self.gone[place] = 0
            self.missed[thread_of(number << shift)] += 1
        if old == NO_NUMBER or thread_of(old << shift) == thread_of(number << shift):
            return
        old &= ~ALONE
        place = self.place_of(old)
        if self.numbers[place] == 0:
            if 2 * self.count > self.mask:
                if not self.grow():
                    self.lost = True
                    return
                place = self.place_of(old)
            self.numbers[place] = old + 1
            self.count += 1
        self.gone[place] = 1

    cdef bint grow(self) noexcept nogil:
        cdef uint64_t* old = self.numbers
        cdef uint8_t* old_gone = self.gone
        cdef uint64_t size = self.mask + 1, i, place
        cdef uint64_t* numbers = <uint64_t*>calloc(2 * size, sizeof(uint64_t))
        cdef uint8_t* gone = <uint8_t*>calloc(2 * size, 1)
        if numbers == NULL or gone == NULL:
            free(numbers)
            free(gone)
            return False
        self.numbers, self.gone, self.mask = numbers, gone, 2 * size - 1
        for i in range(size):
            if old[i]:
                place = self.place_of(old[i] - 1)
                numbers[place], gone[place] = old[i], old_gone[i]
        free(old)
        free(old_gone)
        return True

    def misses(self, thread: int) -> int:
        """What a thread brought again because the other had replaced it."""
        return self.missed[thread]
