/* Threads begin by clone(2), and end by exit(2). */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/sched.h>

#include "tasks/schedule.h"
#include "thread.h"

enum { STACK_BYTES = 1 << 17 };

struct stack {                   /* at the upper end of a thread's C stack */
    struct stack *next;          /* of those that are free */
    struct guest_thread thread;
};

static struct guest_thread first;
static struct stack *free_stacks;
static uint32_t count = 1, numbers = 1;
struct guest_thread *threads, *running, *tried;
bool threaded;

void threads_begin(void) {
    threads = running = tried = &first;
    first.id = process_id();
    first.deadline = NEVER;
}

/* The kernel has the first thread's name. */
void take_name_of(const struct guest_thread *thread, char *to) {
    if (thread->runtime_stack)
        memcpy(to, thread->name, sizeof(thread->name));
    else
        KERNEL2(__NR_prctl, PR_GET_NAME, to);
}

uint32_t thread_count(void) {
    return count;
}

/* The thread with this number, or NULL; 0: the running one. */
struct guest_thread *thread_of(uint32_t id) {
    struct guest_thread *it;
    if (!id)
        return running;
    for (it = threads; it && it->id != id; it = it->next)
        continue;
    return it;
}

/* ---------------------------------------------------------------- beginning */

static struct stack *new_stack(void) {
    struct stack *stack = free_stacks;
    int64_t place;
    if (stack) {
        free_stacks = stack->next;
        return stack;
    }
    place = map_kept(STACK_BYTES);         /* an inaccessible page is in front of it (own_address()) */
    if (failed(place))
        return NULL;
    return (struct stack *)(((uint64_t)place + STACK_BYTES - sizeof(struct stack)) & -(uint64_t)64);
}

static uint32_t new_id(void) {
    uint32_t id;
    do
        id = new_thread_number(numbers);
    while (thread_of(id));
    return id;
}

static void add(struct guest_thread *thread) {
    struct guest_thread **last = &threads;
    while (*last)
        last = &(*last)->next;
    *last = thread;
    count++;
    threaded = true;
}

/* What switch_stacks() finds on a new stack: six registers, and where it goes on. */
static uint64_t prepare_stack(struct stack *stack) {
    uint64_t *to = (uint64_t *)((uint64_t)stack & -(uint64_t)16) - 8;
    memset(to, 0, 8 * sizeof(*to));
    to[6] = (uint64_t)first_of_thread;
    return (uint64_t)to;
}

static void set_begin(struct guest_thread *it, uint64_t flags, uint64_t stack, const uint64_t *a) {
    struct context *context = &it->context;
    copy_context(it);
    copy_signals(&context->signals);
    context->stack = prepare_stack(it->runtime_stack);
    context->target = state->registers[RCX];                 /* behind the call */
    context->registers[RAX] = 0;
    if (stack)
        context->registers[RSP] = stack;
    if (flags & CLONE_SETTLS)
        context->fs = a[4];
    context->python_stack.depth = 0;
}

/* clone() with CLONE_THREAD: a thread that begins in its turn. Returns its number. */
int64_t make_thread(uint64_t flags, uint64_t stack, const uint64_t *a) {
    struct python_stack python;
    struct stack *own;
    struct guest_thread *it;
    if (!(flags & CLONE_SIGHAND) || !(flags & CLONE_VM))
        return -EINVAL;
    own = count < MOST_THREADS && !shares_memory ? new_stack() : NULL;
    if (!own)
        return -EAGAIN;
    it = &own->thread;
    python = it->context.python_stack;
    memset(it, 0, offsetof(struct guest_thread, context));
    it->context.python_stack = python;
    it->runtime_stack = own;
    it->id = new_id();
    it->number = numbers++ % THREAD_NUMBERS;
    it->deadline = NEVER;
    take_name_of(running, it->name);
    set_begin(it, flags, stack, a);
    if (flags & CLONE_CHILD_CLEARTID)
        it->clear_id = a[3];
    if (flags & CLONE_PARENT_SETTID)
        write_number(a[2], it->id);
    if (flags & CLONE_CHILD_SETTID)
        write_number(a[3], it->id);
    if (!threaded)
        begin_turns();
    add(it);
    make_ready(it);
    return it->id;
}

/* ---------------------------------------------------------------- ending */

static void remove(const struct guest_thread *thread) {
    struct guest_thread **place = &threads;
    while (*place != thread)
        place = &(*place)->next;
    *place = thread->next;
    count--;
    threaded = count > 1;
}

static void tell_end(struct guest_thread *thread) {
    if (thread->clear_id && is_writable(thread->clear_id, 4)) {
        *(uint32_t *)thread->clear_id = 0;
        wake_word(thread->clear_id, 1, FUTEX_BITSET_MATCH_ANY);
    }
}

/* exit(): the process goes on with its other threads. Returns if there are none: the process ends with that status. */
uint64_t end_thread(uint64_t status) {
    struct guest_thread *thread = running;
    leave_robust_list(thread);
    if (count == 1)
        return status;
    tell_end(thread);
    forget_signals_of(thread);
    remove(thread);
    if (thread->runtime_stack) {
        thread->runtime_stack->next = free_stacks;
        free_stacks = thread->runtime_stack;
    }
    leave_schedule();
}

void save_threads(struct thread_list *to) {
    *to = (struct thread_list){threads, running->next, count, numbers, running->id, running->number,
                               running->clear_id, running->robust_list, threaded};
}

void restore_threads(const struct thread_list *from) {
    threads = from->first;
    count = from->count;
    numbers = from->numbers;
    threaded = from->threaded;
    running->next = from->next;
    running->id = from->id;
    running->number = from->number;
    running->clear_id = from->clear_id;
    running->robust_list = from->robust_list;
}

/* A child has the running thread alone, which has the number of the process. */
void forget_other_threads(void) {
    threads = running;
    running->next = NULL;
    running->id = process_id();
    running->number = 0;
    running->clear_id = running->robust_list = 0;
    count = numbers = 1;
    threaded = false;
}
