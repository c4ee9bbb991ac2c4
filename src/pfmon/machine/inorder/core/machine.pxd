"""The machine: see machine.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef struct ThreadOrder:         # of a hardware thread's accesses; independent of the other (Montecito manual 2.3.3.2)
    int64_t ordered              # data_memory.pxd
    int64_t l2_ordered, latest, latest_taken     # l2.pxd


cdef class Machine(Timing):
    cdef EventSetAccounting shares
    cdef uint32_t next_event_set           # event set from the next block on
    cdef uint32_t event_set           # the one in force
    cdef list listeners          # by event set: a capture listener, or None
    cdef bint has_listener       # there is one
    cdef bint waits              # another hardware thread has the core
    cdef Arbiter arbiter         # of cores that share memory; None: it shares none
    cdef int64_t next_turn       # cycle from which the other core has to catch up first
    cdef bint same_program       # as the other one: equal addresses mean the same
    cdef bint together           # coupled with another one: their streams end together
    cdef bint ended              # ... its own has ended
    cdef ThreadOrder order       # ... while waiting
    cdef ReturnStack returns     # ... while waiting
    cdef bint due                # the event set changes after the held block

    @cython.final
    cdef snoop_each_other(self, Machine other, bint same_memory)
    @cython.final
    cdef account_evictions(self, ThreadSwitch switch)
    @cython.final
    cdef void run_held_words(self, uint64_t next_ip) noexcept nogil
    @cython.final
    cdef void check_other_core(self) noexcept nogil
    @cython.final
    cdef void copy_held_words(self) noexcept nogil
    @cython.final
    cdef void change_event_set(self) noexcept nogil
    @cython.final
    cdef void share(self) noexcept nogil
    @cython.final
    cdef void suspend_levels(self) noexcept nogil
    @cython.final
    cdef void resume_levels(self, int64_t now) noexcept nogil
    @cython.final
    cdef void late_marks(self) noexcept nogil
    @cython.final
    cdef void advance(self, uint64_t next_ip) noexcept nogil
