"""First-level TLBs for data and instructions, and a second level for data or for both. Pages have 4 KB."""

cimport cython

from pfmon.machine.interval.hierarchy cimport PAGE_SHIFT
from pfmon.machine.tags cimport ABSENT, EXCLUSIVE, quick_find, use


def tlb_tags(config, name: str):
    """The entries of a TLB: ``NAME.entries``, ``NAME.ways``, ``NAME.replacement`` of a machine."""
    ways = config[f"{name}.ways"]
    return TagStore(config[f"{name}.entries"] // ways, ways, PAGE_SHIFT, config[f"{name}.replacement"])


@cython.final
cdef class Translations:
    """``config``: the figures of the TLBs."""

    def __cinit__(self, config):
        self.data, self.code = tlb_tags(config, "dtlb1"), tlb_tags(config, "itlb1")
        self.walk = config["memory.walk"]
        if "tlb2.entries" in config:
            self.second = tlb_tags(config, "tlb2")
            self.shared, self.penalty = config["tlb2.instructions"], config["tlb2.penalty"]

    cdef int64_t translate_data(self, uint64_t address, bint* walked) noexcept nogil:
        cdef int64_t place = quick_find(self.data, address)
        if place != ABSENT:
            use(self.data, place)
            return 0
        return self.miss(self.data, address, True, walked)

    cdef int64_t translate_code(self, uint64_t address, bint* walked) noexcept nogil:
        cdef int64_t place = quick_find(self.code, address)
        if place != ABSENT:
            use(self.code, place)
            return 0
        return self.miss(self.code, address, self.shared, walked)

    cdef int64_t miss(self, TagStore first, uint64_t address, bint second, bint* walked) noexcept nogil:
        """A first-level TLB misses: the second level, then the page walker."""
        cdef int64_t place = first.victim(address)
        first.put(place, address, EXCLUSIVE, 0, True)
        if second and self.second is not None:
            place = quick_find(self.second, address)
            if place != ABSENT:
                use(self.second, place)
                return self.penalty
            self.second.put(self.second.victim(address), address, EXCLUSIVE, 0, True)
        walked[0] = True
        return self.walk
