"""Two flows of control in one thread of the host: each has its stack, one runs, and hands over to the other.

A machine's work is deep in its blocks when its hardware thread is switched out; it goes on where it stood.
"""

from libc.stdint cimport uint32_t, uintptr_t

cdef extern from "<ucontext.h>" nogil:
    ctypedef struct stack_t:
        void* ss_sp
        size_t ss_size
    ctypedef struct ucontext_t:
        ucontext_t* uc_link
        stack_t uc_stack
    int getcontext(ucontext_t*)
    int swapcontext(ucontext_t*, const ucontext_t*)
    void makecontext(ucontext_t*, void (*)() noexcept nogil, int, ...)

cdef enum:
    STACK_BYTES = 1 << 20        # of a flow


ctypedef void (*Entry)() noexcept nogil


cdef inline void prepare_flow(ucontext_t* flow, void* stack, void (*entry)(uint32_t, uint32_t) noexcept nogil,
                              void* what, ucontext_t* behind) noexcept nogil:
    """``flow`` begins with ``entry`` on a stack of STACK_BYTES, which gets the low and the high half of ``what``, as
    makecontext passes no pointers; behind it ``behind`` goes on."""
    getcontext(flow)
    flow.uc_stack.ss_sp, flow.uc_stack.ss_size = stack, STACK_BYTES
    flow.uc_link = behind
    makecontext(flow, <Entry>entry, 2, <uint32_t><uintptr_t>what, <uint32_t>(<uintptr_t>what >> 32))
