"""Sets of lines in order of use: see lru_sets.pxd."""

cimport cython
from libc.stdlib cimport calloc, free
from libc.string cimport memmove


@cython.final
cdef class LruSets:
    """``sets`` x ``ways`` line or page numbers: addresses without their last ``shift`` bits. The set of a number is the
    number modulo ``sets``."""

    def __cinit__(self, sets: int, ways: int, shift: int):
        self.sets, self.ways, self.shift = sets, ways, shift
        self.rows.mask, self.rows.divisor, self.rows.ways = sets - 1, sets if sets & (sets - 1) else 0, ways
        self.rows.lines = <LruLine*>calloc(sets * ways, sizeof(LruLine))
        if self.rows.lines == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.rows.lines)

    cdef int remove(self, uint64_t number) noexcept nogil:
        """Removes a number; 1: it was modified, 0: it was not, or was not there."""
        return remove_number(&self.rows, number)

    # For tests.

    def use(self, number: int) -> bool:
        """Uses a number; returns whether it hit; a miss fills it."""
        cdef LruLine evicted
        if use_line(&self.rows, number) != NULL:
            return True
        insert_line(&self.rows, number, &evicted)
        return False

    def drop(self, number: int) -> None:
        """Removes a number, if it is there."""
        self.remove(number)

    def contents(self) -> list[list[int]]:
        """The numbers by set, the most recent first."""
        return [
            [self.rows.lines[one * self.ways + way].number - 1 for way in range(self.ways)
             if self.rows.lines[one * self.ways + way].number]
            for one in range(self.sets)
        ]


cdef bint remove_number(const LruRows* rows, uint64_t number) noexcept nogil:
    """Removes a number; returns whether it was there and modified."""
    cdef LruLine* found = find(rows, number)
    cdef LruLine* last = lru_set(rows, number) + rows.ways - 1
    cdef bint modified
    if found == NULL:
        return False
    modified = is_modified(found)
    memmove(found, found + 1, (last - found) * sizeof(LruLine))
    last.number = last.ready = 0
    return modified


def cache_sets(config, name: str) -> LruSets:
    """The lines of a cache: ``NAME.size``, ``NAME.ways``, ``NAME.line`` of a machine."""
    line = config[f"{name}.line"]
    return LruSets(config[f"{name}.size"] // (line * config[f"{name}.ways"]), config[f"{name}.ways"],
                   line.bit_length() - 1)


def tlb_sets(config, name: str, shift: int) -> LruSets:
    """The translations of a TLB: ``NAME.entries``, ``NAME.ways`` of a machine, for pages of 1 << ``shift`` bytes."""
    return LruSets(config[f"{name}.entries"] // config[f"{name}.ways"], config[f"{name}.ways"], shift)
