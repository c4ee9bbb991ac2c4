"""The caches of a core as others' requests find them: see coherence.pyx."""

from libc.stdint cimport uint64_t

from pfmon.machine.fetch cimport InstructionFetch
from pfmon.machine.l2 cimport L2
from pfmon.machine.snooper cimport Snooper
from pfmon.machine.tags cimport TagStore


cdef class SnoopedCaches(Snooper):
    cdef L2 l2
    cdef InstructionFetch fetch

    cdef int look(self, TagStore store, uint64_t address, bint invalidate) noexcept nogil
    cdef void drop_code(self, uint64_t address) noexcept nogil
