"""Coroutines: two flows of control in one thread of the host, each with its own stack; one runs and yields to the
other.

A hardware thread is switched out in the middle of a block, and resumes there. makecontext creates the second stack;
later switches use longjmp, since swapcontext makes a system call for the signal mask each time.
"""

from libc.stdint cimport uint32_t

cdef extern from *:
    """
    #include <setjmp.h>
    #include <ucontext.h>

    struct pfmon_flow { jmp_buf state; };

    /* _longjmp under another name: with _FORTIFY_SOURCE the C library's header replaces it by a version with a check,
       which fails for a jump to another stack. */
    extern void pfmon_jump(jmp_buf, int) __asm__("_longjmp") __attribute__((noreturn));

    static void pfmon_switch_flow(struct pfmon_flow *own, struct pfmon_flow *other)
    {
        if (_setjmp(own->state) == 0)
            pfmon_jump(other->state, 1);
    }

    /* Begins the flow `other` with `entry` on its own stack; `entry` gets the pointer as two halves, since makecontext
       passes integers alone, and must not return. Returns when `other` switches to `own`. */
    static void pfmon_begin_flow(struct pfmon_flow *own, void *stack, size_t size, void (*entry)(uint32_t, uint32_t),
                                 void *what)
    {
        ucontext_t other;
        getcontext(&other);
        other.uc_stack.ss_sp = stack;
        other.uc_stack.ss_size = size;
        other.uc_link = NULL;
        makecontext(&other, (void (*)(void))entry, 2, (uint32_t)(uintptr_t)what,
                    (uint32_t)((uint64_t)(uintptr_t)what >> 32));
        if (_setjmp(own->state) == 0)
            setcontext(&other);
    }
    """
    ctypedef struct Coroutine "struct pfmon_flow":
        pass
    void switch_flow "pfmon_switch_flow"(Coroutine* own, Coroutine* other) noexcept nogil
    void begin_flow "pfmon_begin_flow"(Coroutine* own, void* stack, size_t size,
                                       void (*entry)(uint32_t, uint32_t) noexcept nogil,
                                       void* what) noexcept nogil

cdef enum:
    STACK_BYTES = 1 << 20        # of a flow
