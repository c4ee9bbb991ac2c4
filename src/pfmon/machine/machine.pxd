"""The machine: see machine.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.machine.shares cimport Shares
from pfmon.machine.timing cimport Timing
from pfmon.stream.switches cimport Switches

cdef class Machine(Timing):
    cdef Shares shares
    cdef bint heeding            # marks that switch counting on and off
    cdef Switches switches
    cdef uint32_t turn           # slot in which is counted while counting is on
    cdef uint32_t off            # slot while it is off
    cdef uint32_t slot           # the one in force
    cdef bint due                # another one may be behind the block that is held

    cdef void heed(self, uint64_t mark) noexcept nogil
    cdef void change_slot(self) noexcept nogil
    cdef void share(self) noexcept nogil
    cdef void advance(self, uint64_t next_ip) noexcept nogil
