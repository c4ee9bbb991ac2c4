/* Signals that have arrived and wait for their delivery: for one thread, or for any that does not block them.

   What all threads block waits in the kernel, unless it is for one thread. */

#include <asm/siginfo.h>
#include <asm/signal.h>
#include <linux/signal.h>

#include "runtime.h"
#include "signals.h"
#include "threads/thread.h"
#include "world/world.h"

enum { QUEUE = 1024, LAST_STANDARD = 31 };

static struct pending {
    siginfo_t info;
    struct guest_thread *to;           /* NULL: any */
    bool of_process;             /* it was for any when it arrived */
} queue[QUEUE];
static volatile uint32_t queued;
static uint32_t first_own;       /* those before are of the process whose memory a child shares */

/* Add a signal; false: there are too many. A standard signal waits once. */
bool add_signal(const siginfo_t *info, struct guest_thread *to) {
    uint32_t i;
    for (i = first_own; i < queued && info->si_signo <= LAST_STANDARD; i++)
        if (queue[i].info.si_signo == info->si_signo && (to ? queue[i].to == to && !queue[i].of_process : queue[i].of_process))
            return true;
    if (queued == QUEUE)
        return false;
    queue[queued].info = *info;
    queue[queued].to = to;
    queue[queued].of_process = !to;
    show_sender(&queue[queued].info);
    queued++;
    return true;
}

uint64_t mask_of(const struct guest_thread *thread) {
    return thread == running ? signal_mask() : thread->context.signals.mask;
}

/* What all threads block. */
uint64_t common_mask(void) {
    const struct guest_thread *it;
    uint64_t mask = ~(uint64_t)0;
    for (it = threads; it; it = it->next)
        mask &= mask_of(it);
    return mask;
}

static bool is_for(const struct pending *it, const struct guest_thread *thread) {
    return (it->to == thread || !it->to) && !(mask_of(thread) & BIT(it->info.si_signo));
}

static struct pending *first_for(const struct guest_thread *thread) {
    uint32_t i;
    for (i = first_own; i < queued; i++)
        if (is_for(&queue[i], thread))
            return &queue[i];
    return NULL;
}

bool has_signal_for(const struct guest_thread *thread) {
    return queued > first_own && first_for(thread);
}

/* The signal that is delivered next to the running thread; NULL: none. */
const siginfo_t *next_signal(void) {
    const struct pending *it = first_for(running);
    return it ? &it->info : NULL;
}

static void remove(struct pending *it) {
    queued--;
    for (; it < queue + queued; it++)
        *it = it[1];
}

/* Take the next signal of the running thread, while the kernel delivers none. */
bool take_signal(siginfo_t *to) {
    struct pending *it;
    direct_signals();
    it = first_for(running);
    if (!it)
        return false;
    *to = it->info;
    remove(it);
    return true;
}

/* Note whether signals wait for the running thread. */
void set_pending(void) {
    state->pending = 0;
    if (has_signal_for(running))
        state->pending = 1;
}

/* Give signals of the process to the first thread that does not block them. */
void direct_signals(void) {
    struct guest_thread *it;
    uint32_t i;
    for (i = first_own; i < queued; i++)
        for (it = threads; it && !queue[i].to; it = it->next)
            if (!(mask_of(it) & BIT(queue[i].info.si_signo)))
                queue[i].to = it;
}

/* A child has none of its parent's. */
void forget_signals(void) {
    first_own = queued = 0;
}

/* A child that shares the memory begins, and has ended. */
void begin_own_signals(void) {
    first_own = queued;
}

void end_own_signals(void) {
    queued = first_own;
    first_own = 0;
}

/* Signals of a thread that has ended are for nobody. */
void forget_signals_of(const struct guest_thread *thread) {
    uint32_t i = first_own;
    while (i < queued)
        if (queue[i].to == thread)
            remove(&queue[i]);
        else
            i++;
}

/* Those that wait here for a thread that blocks them. */
uint64_t waiting_signals(const struct guest_thread *thread) {
    uint64_t set = 0;
    uint32_t i;
    for (i = first_own; i < queued; i++)
        if (queue[i].to == thread)
            set |= BIT(queue[i].info.si_signo);
    return set;
}

/* Take one of a set that waits for a thread (sigtimedwait(2)), while the kernel delivers none. */
bool take_waiting_signal(const struct guest_thread *thread, uint64_t set, siginfo_t *to) {
    struct pending *it = NULL;
    uint32_t i;
    for (i = first_own; i < queued; i++)
        if ((queue[i].to == thread || !queue[i].to) && set & BIT(queue[i].info.si_signo)
            && (!it || queue[i].info.si_signo < it->info.si_signo))
            it = &queue[i];
    if (!it)
        return false;
    *to = it->info;
    remove(it);
    return true;
}
