"""A machine whose core, or bus, another one shares: see hardware_thread.pyx."""

cimport cython
from libc.stdint cimport int64_t


cdef struct ThreadOrder:         # of a hardware thread's accesses; independent of the other (Montecito manual 2.3.3.2)
    int64_t ordered              # data_memory.pxd
    int64_t l2_ordered, latest, latest_taken     # l2.pxd


@cython.final
cdef class HardwareThread(SwitchedThread):
    cdef Machine machine
    cdef ThreadOrder order       # while the thread waits for the core
    cdef ReturnStack returns     # ... likewise
