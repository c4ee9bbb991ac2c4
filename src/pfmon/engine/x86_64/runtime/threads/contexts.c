/* What the processor and `state` have of a thread, kept while another one runs. */

#include <asm/prctl.h>
#include <asm/unistd.h>

#include "performance/performance.h"
#include "countdown.h"
#include "thread.h"
#include "world/world.h"

static void save_context(struct context *to) {
    memcpy(to->registers, state->registers, sizeof(to->registers));
    to->flags = state->flags;
    to->target = state->target;
    to->fs = state->fs;
    to->gs = state->gs;
    to->runtime_stack = runtime_stack;
    to->python[0] = state->python_entered;
    to->python[1] = state->python_frame;
    to->python[2] = state->python_first;
    to->python[3] = state->python_bytes;
    save_components(to->extended);
}

static void load_context(const struct context *from) {
    memcpy(state->registers, from->registers, sizeof(from->registers));
    state->flags = from->flags;
    state->target = from->target;
    if (from->fs != state->fs)
        KERNEL2(__NR_arch_prctl, ARCH_SET_FS, from->fs);
    if (from->gs != state->gs)
        KERNEL2(__NR_arch_prctl, ARCH_SET_GS, from->gs);
    state->fs = from->fs;
    state->gs = from->gs;
    runtime_stack = from->runtime_stack;
    state->python_entered = from->python[0];
    state->python_frame = from->python[1];
    state->python_first = from->python[2];
    state->python_bytes = from->python[3];
    load_components(from->extended);
}

/* The first function of a new thread. */
void begin_thread(void) {
    set_pending();
    update_countdown();
    continue_after_fault();
}

/* A new thread begins with the registers of the one that makes it. */
void copy_context(struct guest_thread *to) {
    save_context(&to->context);
    memset(to->context.python, 0, sizeof(to->context.python));
}

static uint32_t last_marked;     /* the thread whose words the stream has */

/* Let another thread have the processor; returns when this one has it again. */
void switch_to(struct guest_thread *next) {
    struct guest_thread *before = running;
    if (next == before)
        return;
    save_context(&before->context);
    leave_python_stack(&before->context.python_stack);
    leave_signals(&before->context.signals);
    running = tried = next;
    enter_signals(&next->context.signals);
    enter_python_stack(&next->context.python_stack);
    load_context(&next->context);
    events_of_thread(next->id);
    if ((!area->totals || world.flags & REGIONS_ALONE) && next->number != last_marked)
        put_mark(MARK_THREAD, NO_INSTRUCTION, last_marked = next->number);
    record_as_region_wants();
    switch_stacks(&before->context.stack, next->context.stack);
}
