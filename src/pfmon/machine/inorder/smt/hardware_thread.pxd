"""A machine whose core, or bus, another one shares: see hardware_thread.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t


cdef struct ThreadOrder:         # of a hardware thread's accesses; independent of the other (Montecito manual 2.3.3.2)
    int64_t ordered              # data_memory.pxd
    int64_t l2_ordered, latest, latest_taken     # l2.pxd


@cython.final
cdef class HardwareThread(SwitchedThread):
    cdef Machine machine
    cdef ThreadOrder order       # while the thread waits for the core
    cdef ReturnStack returns     # ... likewise


# Switches to the other hardware thread before the group at ``first`` issues, if that is due; returns whether it did.
cdef bint switch_out(Pipeline pipeline, const BlockExecution* run, uint32_t first) noexcept nogil
# Resumes the pipeline, which has the core after cycle ``now``.
cdef void switch_in(Pipeline pipeline, int64_t now) noexcept nogil
# Records the cycles of the switch to its thread, as those of the next instruction.
cdef void record_switch(Pipeline pipeline, const BlockExecution* run, uint32_t first) noexcept nogil
