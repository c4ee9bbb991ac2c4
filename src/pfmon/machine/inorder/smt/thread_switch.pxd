"""Switch-on-event multithreading of two hardware threads: see thread_switch.pyx.

The thread with the higher urgency has the core (Montecito manual 2.4.1.3, figure 2-2).
"""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef enum:
    MIN_URGENCY = 0            # no useful work to perform
    NOMINAL_URGENCY = 5          # actively progressing
    INTERRUPT_URGENCY = 6        # an external interrupt waits for the background thread
    MAX_URGENCY = 7
    THREADS = 2                  # of a core


cdef inline void lower_urgency(uint8_t* urgency) noexcept nogil:
    """Updates the urgency at an L3 miss of the thread."""
    if urgency[0] > MIN_URGENCY:
        urgency[0] -= 1


cdef inline void raise_urgency(uint8_t* urgency) noexcept nogil:
    """Updates the urgency when the data of a thread's L3 miss arrives."""
    if urgency[0] < NOMINAL_URGENCY:
        urgency[0] += 1


cdef enum:
    MAX_L3_EVENTS = 256          # pending ones

cpdef enum SwitchCause:          # the order is that of the occurrences THREAD_SWITCH_*
    BY_L3 = 0                    # a miss, or the return of its data
    BY_TIMER                     # the thread-quantum counter
    BY_HINT                      # hint@pause
    BY_LOW_POWER                 # the thread is idle
    SWITCH_CAUSES

cpdef enum SwitchPolicy:         # smt.policy, by the names of PAL_SET_HW_POLICY
    PERFORMANCE_POLICY = 0
    FAIRNESS_POLICY
    HIGH_PRIORITY_POLICY                # of thread smt.priority
    EXCLUSIVE_POLICY                    # ... which alone runs as long as it is not idle

cdef struct L3Event:
    int64_t at
    uint8_t thread
    uint8_t is_return           # 0: detection of a miss; 1: return of its data


@cython.final
cdef class ThreadSwitch(CoupledMachines):
    cdef int64_t next_event      # no switch of the running thread is possible before this cycle has passed
    cdef uint8_t urgency[THREADS]
    cdef int64_t handed_over     # the last cycle of the thread before
    cdef int64_t quantum_end     # cycle in which the foreground thread's quantum ends
    cdef int64_t paused          # cycle of its hint; NEVER
    cdef bint owes               # a switch is delayed until the running thread retires an instruction
    cdef L3Event events[MAX_L3_EVENTS]      # by cycle
    cdef uint32_t event_count
    cdef public bint whole_system        # a thread's sleep is the low power of its processor, not of a program's thread
    cdef uint32_t gated          # L3 misses since the last group that caused no switch, as the other thread is in low power
    cdef readonly bint lost      # sticky: no room for an event
    cdef uint64_t active[THREADS]           # cycles that each has had the core
    cdef uint64_t switching[THREADS]        # ... of these until it could issue again
    cdef uint64_t switches[THREADS][SWITCH_CAUSES]
    cdef dict stores             # name -> TagStore shared by both threads

    # figures
    cdef int64_t switch_cycles, quantum
    cdef SwitchPolicy policy
    cdef uint32_t priority
    cdef uint32_t data_entries, fetch_entries    # of the TLBs that are reserved for each thread

    # An L3 miss of the running thread, detected in cycle ``found``, whose data arrives in cycle ``back``.
    cdef void l3_miss(self, int64_t found, int64_t back) noexcept nogil
    # hint@pause issued.
    cdef void pause(self, int64_t now) noexcept nogil
    # Processes events before cycle ``issues``, in which the running thread would issue next, and after ``issued``, its
    # last issue: returns the cycle in which it loses the core, and `why`; -1: it keeps it. `held_back`, `missed`:
    # numbers of such switches.
    cdef int64_t decide(self, int64_t issued, int64_t issues, uint32_t* why, uint32_t* held_back,
                        uint32_t* missed) noexcept nogil
    # Switches to the other thread after cycle ``at``; returns when this thread is switched in again.
    cdef void switch_away(self, int64_t at, uint32_t why) noexcept nogil

    # Firmware of the running thread sets the policy (PAL_SET_HW_POLICY), with priority for this thread.
    cdef void set_policy(self, uint32_t policy) noexcept nogil

    cdef void add_event(self, int64_t at, uint32_t thread, uint8_t is_return) noexcept nogil
    cdef int64_t take_event(self) noexcept nogil
    cdef bint wants_switch(self, int64_t at) noexcept nogil
    cdef bint is_absent(self, uint32_t thread) noexcept nogil
    cdef void look_ahead(self) noexcept nogil
    cdef void hand_over(self, int64_t at) noexcept nogil
