/* Processes that the program makes. They go on in translated code: uncounted, unless they are followed.

   A child of fork() has a copy of the memory. A child of vfork() executes in the program's memory, and so in the
   runtime's, on a stack of its own, until it executes another program or ends; its parent waits in the kernel, and then
   has its registers, its signal handlers, its timers and its place in the stream as they were. If it is followed, it has a
   second ring and a second area in that memory. */

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/signal.h>

#include "root/root.h"
#include "runtime.h"
#include "signals/signals.h"
#include "tasks/following.h"
#include "world/timers.h"
#include "world/world.h"

enum { NOT_IMPLEMENTED = 38, INTERRUPTED_CALL = 4, NO_ROOM = 12, STACK_BYTES_OF_CHILD = 1 << 16 };

bool in_child, shares_memory;

static uint32_t children;        /* that this task has made */

static void close_files(struct files files) {
    KERNEL1(__NR_close, files.ring);
    KERNEL1(__NR_close, files.area);
}

/* A program, or a task, that is followed. */
void begin_counted(void) {
    struct files files = ask_to_begin();
    area_begin(files.area);
    ring_begin(files.ring);
    close_files(files);
    children = area->forks;
}

/* A child that has a copy of the memory has memory of its own in place of what its parent's reader reads. */
static void become_task(void) {
    struct files files = ask_for_child(area->task, children);
    take_area(files.area);
    take_ring(files.ring);
    close_files(files);
    children = 0;
}

static void become_uncounted(void) {
    follow_no_more();
    in_child = true;
    forget_ring();
    forget_area();
}

static void prepare_child(void) {
    made_process = true;
    if (!in_child)
        children = ++area->forks;
    publish_count();
    if (!(following & FOLLOW_FORKS))
        prepare_uncounted();
}

static int64_t make_copy(uint64_t flags, uint64_t stack, const uint64_t *a) {
    int64_t child;
    prepare_child();
    child = KERNEL6(__NR_clone, flags, 0, a[2], a[3], a[4], 0);
    if (child)
        return child;
    if (following & FOLLOW_FORKS)
        become_task();
    else
        become_uncounted();
    forget_timers();
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
    struct kept_ring ring;
    struct area *area;
    struct line line;
    uint32_t following, children;
    bool in_child, shares_memory;
};

static void keep_parent(struct parent *to) {
    memcpy(&to->registers, state, sizeof(*state));
    save_signals(&to->signals);
    save_timers(to->timers);
    keep_ring(&to->ring);
    to->area = area;
    to->line = line;
    to->following = following;
    to->children = children;
    to->in_child = in_child;
    to->shares_memory = shares_memory;
}

static void become_child(uint64_t flags, uint64_t stack, const uint64_t *a) {
    shares_memory = true;
    in_child = !(following & FOLLOW_FORKS);
    if (in_child) {
        use_private_words();
        use_uncounted_translations(true);
    }
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
    following = kept->following;
    children = kept->children;
    line = kept->line;
    use_area(kept->area);
    restore_ring(&kept->ring);
    use_uncounted_translations(in_child && shares_memory);
    memcpy(state, &kept->registers, sizeof(*state));
    restore_signals(&kept->signals, flags & CLONE_SIGHAND);
    restore_timers(kept->timers);
    forget_held();
}

/* The child's first function (entry.S). */
void begin_child(void) {
    if (following & FOLLOW_FORKS) {
        struct files files = ask_for_child(area->task, children);
        take_second_area(files.area);
        ring_begin(files.ring);
        close_files(files);
        children = 0;
    } else
        follow_no_more();
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
        keep_parent(&kept);
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
    if (a[0] & CLONE_VFORK && !(a[0] & CLONE_THREAD))
        return share_memory(a[0], a[1], a);
    if (in_child)
        return -NOT_IMPLEMENTED;
    give_up(MAKES_THREAD);
}
