/* Processes that the program makes. They go on in translated code, uncounted.

   A child of fork() has a copy of the memory. A child of vfork() executes in the program's memory, and so in the
   runtime's, on a stack of its own, until it executes another program or ends; its parent waits in the kernel, and then
   has its registers, its signal handlers, its timers and its place in the stream as they were. */

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>

#include "root/root.h"
#include "runtime.h"
#include "signals/signals.h"
#include "threads/thread.h"
#include "world/timers.h"
#include "world/world.h"

enum { INTERRUPTED_CALL = 4, NO_ROOM = 12, STACK_BYTES_OF_CHILD = 1 << 16 };

bool in_child, shares_memory;

/* A child that has a copy of the memory has private memory in place of what the reader reads. */
static void become_uncounted(void) {
    in_child = true;
    forget_ring();
    forget_area();
    forget_timers();
}

/* The child's only thread. */
static void become_single(void) {
    if (running->runtime_stack)
        KERNEL2(__NR_prctl, PR_SET_NAME, running->name);
    forget_other_threads();
    forget_schedule();
    forget_waiters();
    forget_signals();
    apply_mask();
}

static void prepare_child(void) {
    made_process = true;
    if (!in_child)
        area->forks++;
    publish_count();
    prepare_uncounted();
}

static int64_t make_copy(uint64_t flags, uint64_t stack, const uint64_t *a) {
    int64_t child;
    prepare_child();
    child = KERNEL6(__NR_clone, flags, 0, a[2], a[3], a[4], 0);
    if (child)
        return child;
    become_uncounted();
    become_single();
    if (flags & CLONE_CHILD_CLEARTID)
        running->clear_id = a[3];
    if (stack)
        state->registers[RSP] = stack;
    if (flags & CLONE_SETTLS)
        state->fs = a[4];
    return 0;
}

struct parent {                  /* what a child that shares the memory changes */
    __typeof__(*state) registers;
    struct signals signals;
    struct timer timers[MAX_TIMERS];
    struct thread_list threads;
    uint64_t *words;
    bool in_child, shares_memory;
};

static void become_child(uint64_t flags, uint64_t stack, const uint64_t *a) {
    in_child = shares_memory = true;
    forget_other_threads();
    begin_own_signals();
    use_private_words();
    use_uncounted_translations(true);
    forget_timers();
    state->target = state->registers[RCX];   /* behind the call */
    state->registers[RAX] = 0;
    if (stack)
        state->registers[RSP] = stack;
    if (flags & CLONE_SETTLS)
        state->fs = a[4];
}

static void become_parent(const struct parent *kept, uint64_t flags) {
    in_child = kept->in_child;
    shares_memory = kept->shares_memory;
    use_words(kept->words);
    use_uncounted_translations(shares_memory);
    memcpy(state, &kept->registers, sizeof(*state));
    restore_threads(&kept->threads);
    restore_signals(&kept->signals, flags & CLONE_SIGHAND);
    restore_timers(kept->timers);
    forget_held();
}

/* The child's first function (entry.S). */
void begin_child(void) {
    running->id = process_id();
    unblock_signals();
    continue_after_fault();
}

static int64_t share_memory(uint64_t flags, uint64_t stack, const uint64_t *a) {
    struct parent kept;
    int64_t child, own_stack = KERNEL6(__NR_mmap, own_address(STACK_BYTES_OF_CHILD), STACK_BYTES_OF_CHILD,
                                       PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (failed(own_stack))
        return -NO_ROOM;
    prepare_child();
    block_signals();
    if (state->pending)
        child = -INTERRUPTED_CALL;
    else {
        kept.in_child = in_child;
        kept.shares_memory = shares_memory;
        memcpy(&kept.registers, state, sizeof(*state));
        save_signals(&kept.signals);
        save_threads(&kept.threads);
        save_timers(kept.timers);
        kept.words = words_so_far();
        become_child(flags, stack, a);
        child = clone_sharing(flags, (uint64_t)own_stack + STACK_BYTES_OF_CHILD, a[2], a[3], a[4]);
        become_parent(&kept, flags);
    }
    unblock_signals();
    KERNEL2(__NR_munmap, own_stack, STACK_BYTES_OF_CHILD);
    return child;
}

/* fork, vfork and clone. */
int64_t clone_call(int64_t number, const uint64_t *a) {
    const uint64_t none[6] = {0};
    if (number == __NR_fork)
        return make_copy(SIGCHLD, 0, none);
    if (number == __NR_vfork)
        return share_memory(CLONE_VM | CLONE_VFORK | SIGCHLD, 0, none);
    if (!(a[0] & CLONE_VM))
        return make_copy(a[0], a[1], a);
    if (a[0] & CLONE_THREAD)
        return make_thread(a[0], a[1], a);
    return share_memory(a[0] | CLONE_VFORK, a[1], a);        /* its parent goes on when it has ended, or executes a program */
}
