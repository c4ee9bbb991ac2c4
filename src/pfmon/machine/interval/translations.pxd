"""TLBs of an out-of-order core: see translations.pyx."""

from libc.stdint cimport int64_t, uint64_t

from pfmon.machine.tags cimport TagStore


cdef class Translations:
    cdef readonly TagStore data, code, second
    cdef bint shared             # the second level has instructions' translations, too
    cdef int64_t penalty         # cycles that the second level adds
    cdef int64_t walk            # ... that the page walker adds

    # Cycles that the translation of an address takes beyond a first-level hit; ``walked``: no TLB had it.
    cdef int64_t translate_data(self, uint64_t address, bint* walked) noexcept nogil
    cdef int64_t translate_code(self, uint64_t address, bint* walked) noexcept nogil
    cdef int64_t miss(self, TagStore first, uint64_t address, bint second, bint* walked) noexcept nogil
