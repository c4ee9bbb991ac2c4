"""Two machines that run together: see two_flows.pyx."""

from libc.stdint cimport int64_t, uint32_t

from pfmon.machine.coroutine cimport Flow
from pfmon.stream.consumer cimport Consumer, EventSetConsumer
from pfmon.stream.ring cimport Ring

cdef enum:
    FLOWS = 2


cdef class SwitchedThread(EventSetConsumer):
    """What the machine of a hardware thread does when it loses and gets the core."""

    # It has had the core up to and with cycle ``now``.
    cdef void hold(self, int64_t now) noexcept nogil
    # It has the core behind cycle ``now``.
    cdef void go_on(self, int64_t now) noexcept nogil
    # It may have to wait for something else than memory; the last cycle that it used.
    cdef int64_t stand(self) noexcept nogil
    # Its core has nothing to do from here on, and something behind cycle ``now``.
    cdef void sleep(self) noexcept nogil
    cdef void wake(self, int64_t now) noexcept nogil
    # Its stream has ended: what is held runs. The last cycle that it used.
    cdef int64_t end(self) noexcept nogil


cdef class TwoFlows:
    cdef SwitchedThread first, second
    cdef Consumer first_reader, second_reader
    cdef Ring first_ring, second_ring
    cdef Flow flows[FLOWS]
    cdef bint begun              # the second has its stack
    cdef void* stack             # of the second
    cdef uint32_t running
    cdef bint ended[FLOWS]
    cdef bint asleep[FLOWS]      # its program waits for the other's
    cdef int credit[FLOWS]       # how often it was woken more than it slept: it may be woken before it comes so far
    cdef bint starved[FLOWS]     # what it reads comes when the other has read more

    # The other flow runs; returns when it lets this one run again.
    cdef void let_other_run(self) noexcept nogil
    cdef void leave(self, uint32_t own) noexcept nogil
    # The flow that runs begins its stream.
    cdef void begins(self, SwitchedThread thread) noexcept nogil
    # It has read it, and came to cycle ``now``; the other one may not have.
    cdef void ends(self, SwitchedThread thread, int64_t now) noexcept nogil
    # The running flow's program waits, or has nothing to read for now: returns when it goes on.
    cdef void rests(self, SwitchedThread thread) noexcept nogil
    # The other flow's program goes on.
    cdef void wakes(self, SwitchedThread thread) noexcept nogil
    cdef void begin_asleep(self) noexcept nogil
    cdef void read_pair(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil
    cdef void run_flow(self, uint32_t number) noexcept nogil
    cdef void run_stream(self, SwitchedThread thread, Consumer reader, Ring ring) noexcept nogil
