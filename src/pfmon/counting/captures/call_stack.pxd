"""The call stack of a program, from its stream: see call_stack.pyx."""

cimport cython
from libc.stdint cimport uint64_t

from pfmon.stream._stream cimport BlockTable


cdef struct CallFrame:
    uint64_t site                # the call instruction
    uint64_t return_ip           # its return address


cdef struct CallFrames:          # of one thread
    CallFrame* calls
    uint64_t depth, capacity
    uint64_t beyond              # calls beyond the capacity: only counted
    int leaving                  # BranchKind: a call or return that ended the last block
    CallFrame entered            # the call that ended it


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
