/* Processes that the program makes. They go on in translated code: uncounted, unless they are followed.

   A child of fork() has a copy of the memory. A child of vfork() executes in the program's memory, and so in the
   runtime's, on a stack of its own, until it executes another program or ends; its parent waits in the kernel, and then
   has its registers, its signal handlers, its timers and its place in the stream as they were. If it is followed, it has a
   second ring and a second area in that memory. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>

#include "performance/performance.h"
#include "root/root.h"
#include "runtime.h"
#include "signals/signals.h"
#include "tasks/following.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "waits/waits.h"
#include "world/timers.h"
#include "world/world.h"

enum { STACK_BYTES_OF_CHILD = 1 << 16 };

static const uint64_t WRITTEN = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID;    /* numbers that the runtime writes */

bool in_child, shares_memory;

static uint32_t children;        /* that this task has made */

static void close_files(struct files files) {
    KERNEL1(__NR_close, files.ring);
    KERNEL1(__NR_close, files.area);
}

/* A program whose words and announcements go to these files. */
void begin_counted(struct files files) {
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

/* The child's only thread. */
static void become_single(void) {
    if (running->runtime_stack)
        KERNEL2(__NR_prctl, PR_SET_NAME, running->name);
    forget_other_threads();
    forget_schedule();
    forget_waiters();
    apply_mask();
}

static void prepare_child(void) {
    made_process = true;
    if (schedule->on) {
        take_fatal_signals();
        begin_turns();
    }
    if (!in_child)
        children = ++area->forks;
    publish_count();
    if (!(following & FOLLOW_FORKS))
        prepare_uncounted();
}

/* The child's number, as the parent sees it: the kernel would write the host's. */
static int64_t show_child(uint32_t number, int64_t child, uint64_t flags, uint64_t parent_id) {
    uint32_t shown = world.flags & HOST_IDS ? (uint32_t)child : number;
    if (flags & CLONE_PARENT_SETTID)
        write_number(parent_id, shown);
    return shown;
}

static int64_t know_child(uint32_t place, int64_t child, uint64_t flags, uint64_t parent_id) {
    if (failed(child)) {
        cancel_process(place);
        return child;
    }
    know_process(place, new_number, (uint32_t)child);
    return show_child(new_number, child, flags, parent_id);
}

static int64_t make_copy(uint64_t flags, uint64_t stack, const uint64_t *a) {
    int64_t child, place = new_process();
    if (failed(place))
        return place;
    prepare_child();
    schedule->clock = elapsed();
    block_signals();             /* the child's own wait for its first turn */
    child = KERNEL6(__NR_clone, flags & ~WRITTEN, 0, a[2], a[3], a[4], 0);
    if (child) {
        unblock_signals();
        return know_child((uint32_t)place, child, flags, a[2]);
    }
    forget_signals();
    become_process((uint32_t)place);
    if (following & FOLLOW_FORKS)
        become_task(), inherit_event_files();
    else
        become_uncounted();
    forget_timers();
    if (schedule->on)
        wait_for_turn();
    else
        know_process(own_place, new_number, (uint32_t)KERNEL0(__NR_getpid));
    become_single();
    if (flags & CLONE_CHILD_CLEARTID)
        running->clear_id = a[3];
    if (flags & CLONE_CHILD_SETTID)
        write_number(a[3], process_id());
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
    struct kept_ring ring;
    uint64_t stack;
    struct area *area;
    struct line line;
    uint32_t following, children, place;
    bool in_child, shares_memory;
};

static void keep_parent(struct parent *to) {
    memcpy(&to->registers, state, sizeof(*state));
    save_signals(&to->signals);
    save_threads(&to->threads);
    save_timers(to->timers);
    keep_ring(&to->ring);
    to->stack = runtime_stack;
    to->area = area;
    to->line = line;
    to->following = following;
    to->children = children;
    to->place = own_place;
    to->in_child = in_child;
    to->shares_memory = shares_memory;
}

static void become_child(uint64_t flags, uint64_t stack, const uint64_t *a) {
    shares_memory = true;
    in_child = !(following & FOLLOW_FORKS);
    forget_other_threads();
    begin_own_signals();
    if (in_child) {
        use_private_words();
        choose_translations(true);
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
    own_place = kept->place;
    line = kept->line;
    use_area(kept->area);
    restore_ring(&kept->ring);
    runtime_stack = kept->stack;
    choose_translations(in_child && shares_memory);
    memcpy(state, &kept->registers, sizeof(*state));
    restore_threads(&kept->threads);
    restore_signals(&kept->signals, flags & CLONE_SIGHAND);
    restore_timers(kept->timers);
    forget_held();
}

static uint32_t child_place;
static uint64_t child_number_at;

/* The child's first function (entry.S). */
void begin_child(void) {
    uint64_t number_at = child_number_at;
    become_process(child_place);
    know_process(own_place, new_number, (uint32_t)KERNEL0(__NR_getpid));
    if (following & FOLLOW_FORKS) {
        struct files files = ask_for_child(area->task, children);
        take_second_area(files.area);
        ring_begin(files.ring);
        close_files(files);
        children = 0;
    } else
        follow_no_more();
    running->id = process_id();
    set_elapsed(schedule->clock);
    if (number_at)
        write_number(number_at, process_id());
    unblock_signals();
    continue_after_fault();
}

static int64_t share_memory(uint64_t flags, uint64_t stack, const uint64_t *a) {
    struct parent kept;
    uint32_t number;
    int64_t child, place = new_process(), own_stack;
    if (failed(place))
        return place;
    own_stack = map_kept(STACK_BYTES_OF_CHILD);
    if (failed(own_stack)) {
        cancel_process((uint32_t)place);
        return -ENOMEM;
    }
    prepare_child();
    schedule->clock = elapsed();
    block_signals();
    if (state->pending) {
        cancel_process((uint32_t)place);
        child = -EINTR;
    } else {
        keep_parent(&kept);
        become_child(flags, stack, a);
        number = new_number;
        lend_memory((uint32_t)place);
        child_place = (uint32_t)place;
        child_number_at = flags & CLONE_CHILD_SETTID ? a[3] : 0;
        child = clone_sharing(flags & ~WRITTEN, (uint64_t)own_stack + STACK_BYTES_OF_CHILD, a[2], a[3], a[4]);
        become_parent(&kept, flags);
        get_memory_back((uint32_t)place, !failed(child));
        if (!failed(child))
            child = show_child(number, child, flags, a[2]);
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
