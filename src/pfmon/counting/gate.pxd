"""Who counts when: the splitter of a monitored run; see gate.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from pfmon.counting.switches cimport Switches
from pfmon.stream.consumer cimport Consumer, Slotted
from pfmon.stream.splitter cimport Splitter


cdef class Gate(Splitter):
    cdef list keep               # of what the pointers below point to
    cdef Consumer reader
    cdef Consumer witness
    cdef Slotted machine
    cdef Switches switches
    cdef uint32_t turn           # slot in which is counted while counting is on
    cdef uint32_t off            # slot of what nobody counts
    cdef object on_due
    cdef readonly object error   # that on_due raised

    cdef void switched(self) noexcept nogil
