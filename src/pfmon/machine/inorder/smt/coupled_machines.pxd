"""Two coupled machines: see coupled_machines.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport Consumer, Ring

cdef enum:
    FLOWS = 2


cdef class SwitchedThread:
    """What a hardware thread does when it loses and gets the core (hardware_thread.pyx)."""

    # The thread is switched out after cycle ``now``.
    cdef void lose_core(self, int64_t now) noexcept nogil
    # The thread is switched in; its first cycle is the one after ``now``.
    cdef void get_core(self, int64_t now) noexcept nogil
    # Ends the open cycle and brings the records up to date, before a wait; returns the thread's last cycle.
    cdef int64_t drain_pipeline(self) noexcept nogil
    # The core becomes idle (`sleep`), and busy again after cycle ``now`` (`wake`).
    cdef void sleep(self) noexcept nogil
    cdef void wake(self, int64_t now) noexcept nogil
    # The thread loses the core since its processor enters low power.
    cdef void record_low_power(self) noexcept nogil
    # Runs the held block up to the instruction at ``next_ip``; returns the thread's cycle there.
    cdef int64_t advance(self, uint64_t next_ip) noexcept nogil
    # The stream has ended: runs the held block. Returns the thread's last cycle.
    cdef int64_t end(self) noexcept nogil


cdef class CoupledMachines:
    cdef SwitchedThread first, second
    cdef Consumer first_reader, second_reader
    cdef Ring first_ring, second_ring
    cdef Coroutine flows[FLOWS]
    cdef bint begun              # the second flow has its stack
    cdef void* stack             # of the second flow
    cdef uint32_t running
    cdef bint ended[FLOWS]
    cdef bint asleep[FLOWS]      # its program thread sleeps until the other flow's wakes it
    cdef int credit[FLOWS]       # wakes minus sleeps: a wake may precede its sleep
    cdef bint starved[FLOWS]     # its ring is empty until the other flow reads more

    # Runs the other flow; returns when that yields to this one.
    @cython.final
    cdef void yield_to_other(self) noexcept nogil
    @cython.final
    cdef void resume_other(self, uint32_t own) noexcept nogil
    # The running flow begins its stream.
    cdef void on_begin(self, SwitchedThread thread) noexcept nogil
    # The running flow's stream has ended, in cycle ``now``; the other flow may run.
    cdef void on_end(self, SwitchedThread thread, int64_t now) noexcept nogil
    # The running flow's program thread sleeps, or its ring is empty: returns when the flow can continue.
    cdef void on_sleep(self, SwitchedThread thread) noexcept nogil
    # An external interrupt arrives at the other flow's thread.
    cdef void on_interrupt(self) noexcept nogil
    # The other flow's program thread wakes.
    cdef void on_wake(self, SwitchedThread thread) noexcept nogil
    @cython.final
    cdef void begin_asleep(self) noexcept nogil
    @cython.final
    cdef void read_pair(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil
    @cython.final
    cdef void run_flow(self, uint32_t number) noexcept nogil
    @cython.final
    cdef void run_stream(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil
