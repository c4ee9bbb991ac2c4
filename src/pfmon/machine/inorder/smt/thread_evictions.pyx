"""Evictions of a hardware thread's lines by the other in a cache or TLB, and the misses that they cause.

Processors have no such event: exact costs of sharing (docs/programs.md). A line evicted by the other thread counts once,
when it is refilled. Lines invalidated by another eviction (lines of L1D with their translation or with L2's line) count
where that eviction is.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free


cdef enum:
    INITIAL_EVICTIONS = 1024
    GONE = 1                     # it has not been refilled yet


cdef class ThreadEvictions:
    """Of one cache or TLB."""

    def __cinit__(self):
        self.mask = INITIAL_EVICTIONS - 1
        self.entries = <uint64_t*>calloc(INITIAL_EVICTIONS, sizeof(uint64_t))
        if self.entries == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.entries)

    cdef uint64_t slot_of(self, uint64_t number) noexcept nogil:
        cdef uint64_t slot = (number * HASH >> HASH_SHIFT) & self.mask
        while self.entries[slot] and self.entries[slot] >> 1 != number + 1:
            slot = (slot + 1) & self.mask
        return slot

    cdef void replaced(self, uint64_t number, uint64_t old, uint32_t shift) noexcept nogil:
        cdef uint64_t slot = self.slot_of(number & ~NO_L2_ENTRY)
        if self.entries[slot] & GONE:
            self.entries[slot] -= GONE
            self.missed[thread_of(number << shift)] += 1
        if old == NO_NUMBER or thread_of(old << shift) == thread_of(number << shift):
            return
        old &= ~NO_L2_ENTRY
        slot = self.slot_of(old)
        if self.entries[slot] == 0:
            if 2 * self.count > self.mask:
                if not self.grow():
                    self.lost = True
                    return
                slot = self.slot_of(old)
            self.count += 1
        self.entries[slot] = old + 1 << 1 | GONE

    cdef bint grow(self) noexcept nogil:
        cdef uint64_t* old = self.entries
        cdef uint64_t size = self.mask + 1, i
        cdef uint64_t* entries = <uint64_t*>calloc(2 * size, sizeof(uint64_t))
        if entries == NULL:
            return False
        self.entries, self.mask = entries, 2 * size - 1
        for i in range(size):
            if old[i]:
                entries[self.slot_of((old[i] >> 1) - 1)] = old[i]
        free(old)
        return True

    def misses(self, thread: int) -> int:
        """Number of a thread's misses on lines that the other evicted."""
        return self.missed[thread]
