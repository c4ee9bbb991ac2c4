"""Switches of event sets: see event_set_switch.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t


@cython.final
cdef class EventSetSwitch:
    cdef EventSetAccounting shares
    cdef MemoReplay replay
    cdef CaptureReporting captures
    cdef RecordReporting shown

    cdef uint32_t in_force       # the event set
    cdef uint32_t requested      # ... from the next block on
    cdef bint due                # it changes after the held block
    cdef list listeners          # by event set: a capture listener, or None
    cdef bint has_listener       # there is one
    cdef bint suspended          # another hardware thread has the core

    cdef void request(self, uint32_t event_set) noexcept nogil
    # Puts the requested event set in force.
    cdef void change(self) noexcept nogil
    # Attributes time and levels so far to the event set in force.
    cdef void share(self) noexcept nogil
    # Does so, and attributes later ones to none; until cycle ``now``.
    cdef void suspend(self) noexcept nogil
    cdef void resume(self, int64_t now) noexcept nogil
