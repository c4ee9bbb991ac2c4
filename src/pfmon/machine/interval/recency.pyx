"""Sets in the order of use: see recency.pxd."""

cimport cython
from libc.stdlib cimport calloc, free
from libc.string cimport memmove


@cython.final
cdef class Sets:
    """``sets`` x ``ways`` numbers, which are addresses without their last ``shift`` bits. A number's set is its remainder by
    the number of sets."""

    def __cinit__(self, sets: int, ways: int, shift: int):
        self.sets, self.ways, self.shift = sets, ways, shift
        self.mask = 0 if sets & (sets - 1) else sets - 1
        self.lines = <Line*>calloc(sets * ways, sizeof(Line))
        if self.lines == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.lines)

    cdef Line* search(self, Line* first, uint64_t number) noexcept nogil:
        """`look`, for what was not used last in its set."""
        cdef Line found
        cdef uint32_t way
        for way in range(1, self.ways):
            if first[way].number == number + 1:
                found = first[way]
                memmove(first + 1, first, way * sizeof(Line))
                first[0] = found
                return first
        return NULL

    cdef Line* bring(self, uint64_t number, Line* gone) noexcept nogil:
        """Bring in a number that is not there; ``gone`` becomes what made room, with number 0 if nothing had to."""
        cdef Line* first = set_of(self, number)
        cdef uint32_t way = 0
        while way < self.ways - 1 and first[way].number:     # free places are behind the lines
            way += 1
        gone[0] = first[way]
        memmove(first + 1, first, way * sizeof(Line))
        first.number, first.ready = number + 1, 0
        return first

    cdef int remove(self, uint64_t number) noexcept nogil:
        """A number goes; 1: it was modified, 0: it was not, or was not there."""
        cdef Line* first = set_of(self, number)
        cdef uint32_t way
        cdef bint modified
        for way in range(self.ways):
            if first[way].number == number + 1:
                modified = is_modified(&first[way])
                memmove(first + way, first + way + 1, (self.ways - way - 1) * sizeof(Line))
                first[self.ways - 1].number = first[self.ways - 1].ready = 0
                return modified
        return False

    # For tests.

    def use(self, number: int) -> bool:
        """A use: whether it was there; if not, it is brought in."""
        cdef Line gone
        if look(self, number) != NULL:
            return True
        self.bring(number, &gone)
        return False

    def drop(self, number: int) -> None:
        """A number goes, if it is there."""
        self.remove(number)

    def contents(self) -> list[list[int]]:
        """The numbers by set, the latest first."""
        return [
            [self.lines[one * self.ways + way].number - 1 for way in range(self.ways)
             if self.lines[one * self.ways + way].number]
            for one in range(self.sets)
        ]


def cache_sets(config, name: str) -> Sets:
    """The lines of a cache: ``NAME.size``, ``NAME.ways``, ``NAME.line`` of a machine."""
    line = config[f"{name}.line"]
    return Sets(config[f"{name}.size"] // (line * config[f"{name}.ways"]), config[f"{name}.ways"], line.bit_length() - 1)


def tlb_sets(config, name: str, shift: int) -> Sets:
    """The translations of a TLB: ``NAME.entries``, ``NAME.ways`` of a machine, for pages of 1 << ``shift`` bytes."""
    return Sets(config[f"{name}.entries"] // config[f"{name}.ways"], config[f"{name}.ways"], shift)
