"""Two hardware threads of a core take turns: see thread_switch.pyx."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from pfmon.machine.two_flows cimport TwoFlows
from pfmon.machine.urgency cimport THREADS

cdef enum:
    MOST_L3_EVENTS = 256         # that are known and have not happened yet

cpdef enum SwitchCause:          # the order is that of the occurrences THREAD_SWITCH_*
    BY_L3 = 0                    # a miss, or the return of its data
    BY_TIMER                     # the thread-quantum counter
    BY_HINT                      # hint@pause
    BY_LOW_POWER                 # the thread has nothing to do
    SWITCH_CAUSES

cpdef enum SwitchPolicy:         # smt.policy, as PAL_SET_HW_POLICY names them
    PERFORMANCE = 0
    FAIRNESS
    HIGH_PRIORITY                # of thread smt.priority
    EXCLUSIVE                    # ... which alone runs as long as it has something to do

cdef struct L3Event:
    int64_t at
    uint8_t thread
    uint8_t comes_back           # 0: it is known to be a miss; 1: its data has come


cdef class ThreadSwitch(TwoFlows):
    cdef int64_t next_event      # nothing can take the core from the running thread before this cycle has passed
    cdef uint8_t urgency[THREADS]
    cdef int64_t handed_over     # the last cycle of the thread before
    cdef int64_t quantum_end     # cycle in which the foreground thread's time is over
    cdef int64_t paused          # cycle in which it gave a hint; NEVER
    cdef bint owes               # a switch was held back until it has retired something
    cdef L3Event events[MOST_L3_EVENTS]     # by cycle
    cdef uint32_t event_count
    cdef readonly bint lost      # sticky: an event found no place
    cdef uint64_t active[THREADS]           # cycles that each has had the core
    cdef uint64_t switching[THREADS]        # ... of these until it could issue again
    cdef uint64_t switches[THREADS][SWITCH_CAUSES]
    cdef dict stores             # name -> TagStore that both threads share

    # figures
    cdef int64_t switch_cycles, quantum
    cdef SwitchPolicy policy
    cdef uint32_t priority
    cdef uint32_t data_entries, fetch_entries    # of the TLBs that are each thread's

    # An L3 miss of the running thread, known in cycle ``found``, whose data comes in cycle ``back``.
    cdef void l3_miss(self, int64_t found, int64_t back) noexcept nogil
    # hint@pause issued.
    cdef void pause(self, int64_t now) noexcept nogil
    # What happens before cycle ``issues``, in which the running thread would issue next, and behind ``issued``, in which
    # it did last: the cycle in which it loses the core, and `why`; -1: it keeps it. `held_back`, `missed`: so many
    # switches were.
    cdef int64_t decide(self, int64_t issued, int64_t issues, uint32_t* why, uint32_t* held_back,
                        uint32_t* missed) noexcept nogil
    # The other thread gets the core behind cycle ``at``; returns when this one has it again.
    cdef void switch_away(self, int64_t at, uint32_t why) noexcept nogil

    cdef void add_event(self, int64_t at, uint32_t thread, uint8_t comes_back) noexcept nogil
    cdef int64_t take_event(self) noexcept nogil
    cdef bint wants_switch(self, int64_t at) noexcept nogil
    cdef bint is_absent(self, uint32_t thread) noexcept nogil
    cdef void look_ahead(self) noexcept nogil
    cdef void hand_over(self, int64_t at) noexcept nogil
