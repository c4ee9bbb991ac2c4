"""Temporary: everything is in L1I."""
from pfmon.machine.lower cimport LowerLevels
cdef class InstructionFetch:
    def __cinit__(self, config, LowerLevels lower):
        pass
    cdef bint quick(self, uint64_t address, int64_t now) noexcept nogil:
        return True
    cdef void note_quick(self, Notes* notes) noexcept nogil:
        pass
    cdef void fetch(self, Notes* notes, uint64_t address, int64_t now, Fetched* out) noexcept nogil:
        out.ready = now
        out.second_cycles = 0
    cdef void redirect(self, Notes* notes, uint64_t target, bint many, int64_t now) noexcept nogil:
        pass
    cdef void hint(self, Notes* notes, uint64_t target, int64_t now) noexcept nogil:
        pass
    cdef void finish(self, int64_t now) noexcept nogil:
        pass
    def levels(self):
        return {}
