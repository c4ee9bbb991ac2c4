/* Timers of the host (--host-clock) whose signal is for one thread, which the kernel does not know: the kernel sends SIGTRAP, which
   the guest never blocks, and the runtime the timer's signal to its thread. */

#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/errno.h>

#include "thread.h"

enum { MOST_TIMERS = 64, EVENT_BYTES = 24 };

static struct host_timer {
    uint32_t thread;             /* 0: none */
    int signal, number;
    uint64_t value;
} timers[MOST_TIMERS];

bool has_host_timers;            /* signals may come from timers that only the kernel knows */

static struct host_timer *free_timer(void) {
    int i;
    for (i = 0; i < MOST_TIMERS; i++)
        if (!timers[i].thread)
            return &timers[i];
    return NULL;
}

static int64_t create(const uint64_t *a, const struct sigevent *wanted) {
    struct sigevent event = {.sigev_signo = SIGTRAP, .sigev_notify = SIGEV_SIGNAL};
    struct host_timer *it = free_timer();
    int64_t result;
    if (!it)
        return -EAGAIN;
    event.sigev_value.sival_ptr = it;
    result = KERNEL3(__NR_timer_create, a[0], &event, a[2]);
    if (result == 0)
        *it = (struct host_timer){(uint32_t)wanted->_sigev_un._tid, wanted->sigev_signo, *(const int *)a[2],
                                  (uint64_t)wanted->sigev_value.sival_ptr};
    return result;
}

static void forget(uint64_t number) {
    int i;
    for (i = 0; i < MOST_TIMERS; i++)
        if (timers[i].thread && timers[i].number == (int)number)
            timers[i].thread = 0;
}

/* Returns whether the call has been executed; the kernel does all others. */
bool host_timer_call(int64_t number, const uint64_t *a, int64_t *result) {
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    has_host_timers = has_host_timers || number == __NR_alarm || number == __NR_setitimer || number == __NR_timer_settime;
    if (number == __NR_timer_delete)
        forget(a[0]);
    if (number != __NR_timer_create || !threaded || !a[1] || !are_readable(a[1], EVENT_BYTES))
        return false;
    memcpy(&event, (const void *)a[1], EVENT_BYTES);
    if (event.sigev_notify != SIGEV_THREAD_ID || !thread_of((uint32_t)event._sigev_un._tid))
        return false;
    *result = create(a, &event);
    return true;
}

/* Make a signal of the kernel's that of a timer here; returns the thread that it is for, or NULL: it is another one. */
struct guest_thread *take_host_timer(siginfo_t *info) {
    uint64_t offset = (uint64_t)info->si_value.sival_ptr - (uint64_t)timers;
    const struct host_timer *it = &timers[offset / sizeof(timers[0])];
    if (info->si_signo != SIGTRAP || info->si_code != SI_TIMER || offset >= sizeof(timers) || !it->thread)
        return NULL;
    info->si_signo = it->signal;
    info->si_value.sival_ptr = (void *)it->value;
    return thread_of(it->thread);
}
