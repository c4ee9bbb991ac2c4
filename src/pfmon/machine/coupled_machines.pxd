"""Two coupled machines: see coupled_machines.pyx."""

from libc.stdint cimport int64_t, uint32_t

from pfmon.stream._stream cimport Consumer, EventSetConsumer, Ring

cdef enum:
    FLOWS = 2


cdef class SwitchedThread(EventSetConsumer):
    """Reactions of a hardware thread's machine when it loses and gets the core."""

    # It has had the core up to and including cycle ``now``.
    cdef void lose_core(self, int64_t now) noexcept nogil
    # It has the core after cycle ``now``.
    cdef void get_core(self, int64_t now) noexcept nogil
    # It may have to wait for events other than memory; returns the last cycle that it used.
    cdef int64_t drain_pipeline(self) noexcept nogil
    # Its core is idle from here on, and busy after cycle ``now``.
    cdef void sleep(self) noexcept nogil
    cdef void wake(self, int64_t now) noexcept nogil
    # Its stream has ended: runs the held block. Returns the last cycle that it used.
    cdef int64_t end(self) noexcept nogil


cdef class CoupledMachines:
    cdef SwitchedThread first, second
    cdef Consumer first_reader, second_reader
    cdef Ring first_ring, second_ring
    cdef Coroutine flows[FLOWS]
    cdef bint begun              # the second has its stack
    cdef void* stack             # of the second
    cdef uint32_t running
    cdef bint ended[FLOWS]
    cdef bint asleep[FLOWS]      # its program waits for the other's
    cdef int credit[FLOWS]       # excess of wakes over sleeps: it may be woken before it sleeps
    cdef bint starved[FLOWS]     # it can read on only after the other has read more

    # Runs the other flow; returns when that yields to this one.
    cdef void yield_to_other(self) noexcept nogil
    cdef void leave(self, uint32_t own) noexcept nogil
    # The running flow begins its stream.
    cdef void on_begin(self, SwitchedThread thread) noexcept nogil
    # Its stream has ended, in cycle ``now``; the other one may go on.
    cdef void on_end(self, SwitchedThread thread, int64_t now) noexcept nogil
    # The running flow's program waits, or has nothing to read for now: returns when it goes on.
    cdef void on_sleep(self, SwitchedThread thread) noexcept nogil
    # The other flow's program goes on.
    cdef void on_wake(self, SwitchedThread thread) noexcept nogil
    cdef void begin_asleep(self) noexcept nogil
    cdef void read_pair(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil
    cdef void run_flow(self, uint32_t number) noexcept nogil
    cdef void run_stream(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil
