/* The alternate stack of signal handlers (sigaltstack(2)). None is set: its size is 0. */

#include <asm/signal.h>
#include <linux/errno.h>

#include "runtime.h"
#include "signals.h"

enum { MINIMUM = 2048, DISARMS = (int)SS_AUTODISARM };

static bool has_inside(const stack_t *stack, uint64_t sp) {
    return sp > (uint64_t)stack->ss_sp && sp - (uint64_t)stack->ss_sp <= stack->ss_size;
}

/* Whether the guest's stack pointer is in it. A stack that is disarmed while a handler executes on it is none then. */
static bool is_on_stack(const stack_t *stack) {
    return !(stack->ss_flags & DISARMS) && has_inside(stack, state->registers[RSP]);
}

/* Where the frame of a handler goes that asks for the alternate stack; 0: on the stack that is in use. */
uint64_t alternate_top(const stack_t *stack) {
    return stack->ss_size && !is_on_stack(stack) ? (uint64_t)stack->ss_sp + stack->ss_size : 0;
}

/* Whether a frame that begins there is below the alternate stack that it was to be on. */
bool is_below_stack(const stack_t *stack, uint64_t frame, bool enters) {
    return (enters || is_on_stack(stack)) && !has_inside(stack, frame);
}

/* A handler begins, whose frame has the stack as it was. */
void disarm_stack(stack_t *stack) {
    if (stack->ss_flags & DISARMS)
        *stack = (stack_t){.ss_flags = SS_DISABLE};
}

static int64_t set_stack(stack_t *stack, const stack_t *to) {
    int mode = to->ss_flags & ~DISARMS;
    if (is_on_stack(stack))
        return -EPERM;
    if (mode != 0 && mode != SS_ONSTACK && mode != SS_DISABLE)
        return -EINVAL;
    if (mode != SS_DISABLE && to->ss_size < MINIMUM)
        return -ENOMEM;
    *stack = *to;
    if (mode == SS_DISABLE)
        *stack = (stack_t){.ss_flags = to->ss_flags};
    return 0;
}

/* The stack that a handler's frame has is set when the handler returns, unless that is refused. */
void restore_stack(stack_t *stack, const stack_t *to) {
    set_stack(stack, to);
}

int64_t change_stack(stack_t *stack, const stack_t *to, stack_t *old) {
    stack_t before = *stack;
    int64_t result = 0;
    before.ss_flags &= DISARMS;
    before.ss_flags |= !before.ss_size ? SS_DISABLE : is_on_stack(stack) ? SS_ONSTACK : 0;
    if (to)
        result = are_readable((uint64_t)to, sizeof(*to)) ? set_stack(stack, to) : -EFAULT;
    if (result)
        return result;
    if (old) {
        if (!is_writable((uint64_t)old, sizeof(*old)))
            return -EFAULT;
        *old = before;
    }
    return 0;
}
