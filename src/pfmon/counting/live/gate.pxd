"""The gate of a monitored run: counting on and off, by event set; see gate.pyx."""

cimport cython
from libc.stdint cimport uint32_t, uint64_t

from pfmon.stream._stream cimport Consumer, EventSetConsumer, Splitter


cdef enum:
    MAX_REGION_SETS = 64         # readers, at most, if they belong to sets of regions


@cython.final
cdef class Gate(Splitter):
    cdef list keep               # owners of the pointers below
    cdef Consumer reader
    cdef Consumer witness
    cdef EventSetConsumer machine
    cdef TriggerState switches
    cdef uint32_t event_set      # event set in force while counting is on
    cdef uint32_t off            # event set of uncounted instructions
    cdef bint by_thread, by_task, tasks_apart
    cdef uint64_t without_idle   # a bit for each event set
    cdef uint64_t task           # value of the last TASK mark
    cdef uint64_t whole_calls    # a bit for each trigger that counts one whole call
    cdef CallStack calls         # None: there is no such trigger
    cdef uint64_t depth, caller  # of the call for which is counted: calls that the program was in, its thread
    cdef readonly OpenRegions regions    # None: regions change nothing
    cdef bint regions_alone      # what is outside of them does not count
    cdef bint regions_apart      # the readers belong to sets of regions
    cdef uint64_t sets_of_regions[MAX_REGION_SETS]   # by reader
    cdef uint32_t region_sets
    cdef readonly bint lacks_readers     # sticky: there were more sets of regions than readers
    cdef object on_due
    cdef readonly object error   # raised by on_due

    cdef bint counts(self) noexcept nogil
    cdef void switched(self) noexcept nogil
    cdef void await_return(self) noexcept nogil
    cdef bint has_left_call(self) noexcept nogil
    cdef void switch_reader(self, uint32_t place) noexcept nogil
    cdef void follow_regions(self, uint64_t mark) noexcept nogil
    cdef uint32_t reader_of_regions(self) noexcept nogil
