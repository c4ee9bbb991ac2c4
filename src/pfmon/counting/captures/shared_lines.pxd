"""Lines of memory that threads share: see shared_lines.pyx."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockTable, Consumer

cdef struct LineUse:             # of a line
    uint64_t key                 # its number + 1; 0: free
    uint64_t holders             # threads with a copy of it, a bit each, by number modulo 64
    uint64_t dirty               # 64ths of the line that its owner stored to; 0: no thread owns it
    uint32_t first               # thread that accessed it first
    bint shared                  # another thread has accessed it
    bint stored                  # a thread has stored to it

cdef struct SharedUse:           # accesses of an instruction of a thread to a place in a line that is shared and stored to
    uint64_t key                 # of the line + 1; 0: free
    uint64_t instruction         # its number in the block table
    uint32_t thread
    uint8_t offset, size         # in the line
    uint64_t loads, stores
    uint64_t moved               # when another thread owned the line
    uint64_t unrelated           # ... and had stored to other bytes alone


@cython.final
cdef class SharedLines(Consumer):
    cdef BlockTable table
    cdef readonly uint32_t line_shift
    cdef uint32_t thread
    cdef LineUse* lines          # a hash table
    cdef uint64_t line_count, line_room
    cdef SharedUse* uses         # a hash table
    cdef uint64_t use_count, use_room

    cdef void access(self, uint64_t instruction, uint64_t address, uint64_t size, uint32_t kind) noexcept nogil
    cdef void access_line(self, uint64_t instruction, uint64_t number, uint8_t offset, uint8_t size,
                          uint32_t kind) noexcept nogil
    cdef LineUse* line_of(self, uint64_t number) noexcept nogil
    cdef LineUse* place_of_line(self, uint64_t key) noexcept nogil
    cdef SharedUse* use_of(self, const SharedUse* wanted) noexcept nogil
    cdef SharedUse* place_of_use(self, const SharedUse* wanted) noexcept nogil
    cdef bint grow_lines(self) noexcept nogil
    cdef bint grow_uses(self) noexcept nogil
