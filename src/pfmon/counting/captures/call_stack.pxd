"""The call stack of a program, from its stream: see call_stack.pyx."""

cimport cython
from libc.stdint cimport uint64_t

from pfmon.stream._stream cimport BlockTable


cdef struct CallFrame:
    uint64_t site                # the call instruction
    uint64_t return_ip           # its return address


cdef enum Leaving:               # beside BranchKind: how the last block was left
    TO_HANDLER = 16              # an interruption was delivered behind it
    FROM_HANDLER = 17            # it ended with a return from interruption
    TO_USER = 18                 # the lowest privilege level is entered
    RETURN_TO_USER = 19          # ... by a return to a caller there


cdef struct SystemEntry:         # what was left for a higher privilege level, or for a handler
    uint64_t depth               # calls then
    uint64_t return_ip           # where a return from the handler goes on; 0: no handler runs
    int leaving                  # of CallFrames, then
    CallFrame entered


cdef struct CallFrames:          # of one thread
    CallFrame* calls
    uint64_t depth, capacity
    uint64_t beyond              # calls beyond the capacity: only counted
    int leaving                  # BranchKind of a call or return that ended the last block, or Leaving
    CallFrame entered            # the call that ended it
    SystemEntry* entries         # of system mode: those that have not been returned from, the innermost last
    uint64_t entry_count, entry_capacity
    uint64_t floor               # calls below the innermost handler: its returns do not leave them


cdef class CallStack:
    cdef BlockTable table
    cdef bint traced
    cdef CallFrames now          # of the running thread
    cdef CallFrames* threads     # of the other threads, by number
    cdef uint64_t thread_count
    cdef uint64_t thread

    cdef void switch_to(self, uint64_t thread) noexcept nogil
    cdef void follow_python(self, int kind, uint64_t value) noexcept nogil
    cdef void arrive(self, uint64_t word) noexcept nogil
    @cython.final
    cdef void arrive_at(self, uint64_t ip) noexcept nogil
    cdef void end_block(self, uint64_t word) noexcept nogil
    cdef void retire_block(self, bint mispredicted, uint64_t cycle) noexcept nogil
    @cython.final
    cdef void read(self, const uint64_t* words, uint64_t count) noexcept nogil
    cdef void push(self) noexcept nogil
    @cython.final
    cdef void pop(self, uint64_t ip) noexcept nogil
    @cython.final
    cdef void follow_system(self, uint64_t mark) noexcept nogil
    @cython.final
    cdef void enter_system(self, uint64_t return_ip) noexcept nogil
    cdef void leave_system(self, uint64_t ip) noexcept nogil
    @cython.final
    cdef void return_to_entry(self, uint64_t number) noexcept nogil
