"""The machine: see machine.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine.shares cimport Shares
from pfmon.machine.timing cimport Timing

cdef class Machine(Timing):
    cdef Shares shares
    cdef uint32_t turn           # event set that is to be in force
    cdef uint32_t event_set           # the one in force
    cdef list watches            # by event set: a Watch, or None
    cdef bint watched            # there was one
    cdef bint due                # another one may be behind the block that is held

    cdef void change_event_set(self) noexcept nogil
    cdef void share(self) noexcept nogil
    cdef void late_marks(self) noexcept nogil
    cdef void advance(self, uint64_t next_ip) noexcept nogil
