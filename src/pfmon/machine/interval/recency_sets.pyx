"""Sets of lines, or of pages, in order of use: the most recent first; the last is the victim (LRU).

A line is a number of 31 bits (short addresses: cache_contents.pyx). Free members are behind all others.
"""

cimport cython
from libc.stdlib cimport calloc, free


@cython.final
cdef class RecencySets:
    """``sets`` x ``ways`` lines or pages: short addresses without their last ``shift`` bits."""

    def __cinit__(self, sets: int, ways: int, shift: int):
        cdef void* members
        self.sets = sets
        self.rows.mask, self.rows.divisor = sets - 1, sets if sets & (sets - 1) else 0
        self.rows.ways, self.rows.stride, self.rows.shift = ways, (ways + 3) & ~3, shift
        self.rows.members = <uint32_t*>calloc(sets * self.rows.stride, sizeof(uint32_t))
        if self.rows.members == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.rows.members)

    cdef bint remove(self, uint32_t* members, uint32_t line) noexcept nogil:
        """Removes a line from a set; returns whether it was modified."""
        cdef uint32_t place = place_in_set(members, self.rows.stride, line)
        cdef bint modified
        if place == self.rows.stride:
            return False
        modified = members[place] & 1
        memmove(members + place, members + place + 1, (self.rows.ways - 1 - place) * sizeof(uint32_t))
        members[self.rows.ways - 1] = 0
        return modified

    # For tests: the set of a line is the line modulo `sets`.

    def use(self, uint32_t line) -> bool:
        """Uses a line; returns whether it hit; a miss fills it."""
        cdef uint32_t* members = self.rows.members + line % self.sets * self.rows.stride
        if use_member(&self.rows, members, line):
            return True
        insert_member(&self.rows, members, line, False)
        return False

    def drop(self, uint32_t line) -> None:
        """Removes a line, if it is there."""
        self.remove(self.rows.members + line % self.sets * self.rows.stride, line)

    def contents(self) -> list[list[int]]:
        """The lines by set, the most recent first."""
        cdef uint32_t stride = self.rows.stride
        return [
            [self.rows.members[one * stride + way] >> 1 for way in range(self.rows.ways)
             if self.rows.members[one * stride + way]]
            for one in range(self.sets)
        ]


def recency_cache(config, name: str) -> RecencySets:
    """The lines of a cache: ``NAME.size``, ``NAME.ways``, ``NAME.line`` of a machine."""
    line = config[f"{name}.line"]
    return RecencySets(config[f"{name}.size"] // (line * config[f"{name}.ways"]), config[f"{name}.ways"],
                       line.bit_length() - 1)


def recency_tlb(config, name: str) -> RecencySets:
    """The translations of a TLB: ``NAME.entries``, ``NAME.ways`` of a machine."""
    return RecencySets(config[f"{name}.entries"] // config[f"{name}.ways"], config[f"{name}.ways"], PAGE_SHIFT)
