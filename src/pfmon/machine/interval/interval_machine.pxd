"""An out-of-order machine: see interval_machine.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pfmon.stream._stream cimport BlockTable, PathTable


@cython.final
cdef class IntervalMachine(MissEvents):
    cdef IntervalPaths paths
    cdef RecordObserver observer
    cdef list listeners          # by event set: a CycleListener, or None
    cdef list capture_listeners               # by event set: a capture listener, or None
    cdef bint has_listener       # there is one of either
    cdef uint64_t held_count     # words that wait for the next; 0: none do
    cdef IntervalBlock* ran      # the block that ran last
    cdef uint32_t next_event_set, event_set
    cdef bint due
    cdef uint64_t* cycles_of     # by event set
    cdef int64_t shared          # cycle up to which these are attributed
    cdef uint32_t event_sets
    cdef uint64_t reference, frequency
    cdef uint64_t held[MAX_WORD_SPAN]

    cdef uint64_t read_marks(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void run_held(self, uint64_t next_ip) noexcept nogil
    # Runs the held word: its thread's turn ends.
    cdef void end_turn(self) noexcept nogil
    cdef void make_accesses(self, IntervalBlock* plan, const uint64_t* addresses, const uint64_t* marks,
                            uint64_t mark_count) noexcept nogil
    cdef void report_block(self, const uint64_t* words, const uint64_t* marks, uint64_t mark_count) noexcept nogil
    cdef void change_event_set(self) noexcept nogil
    cdef void write_out(self) noexcept nogil
    cdef uint64_t run_words(self, const uint64_t* words, uint64_t count, uint64_t after) noexcept nogil
    cdef void report_last_group(self) noexcept nogil
    cdef int set_cycle_listener(self) except -1
    cdef void record_captures(self, IntervalBlock* plan) noexcept nogil
