/* A call that waits, and what can end it. */

#ifndef PFMON_X86_64_WAITS_H
#define PFMON_X86_64_WAITS_H

#include <linux/time_types.h>

#include "runtime.h"
#include "world/world.h"

struct wait {
    int64_t (*attempt)(const struct wait *it, uint64_t limit);   /* nanoseconds of the host; NEVER: without end */
    bool (*is_inside)(const struct wait *it);        /* only the guest itself or time can end it */
    int64_t number;
    const uint64_t *a;
    int64_t nothing;             /* the result of an attempt whose limit has passed */
    bool for_signals;            /* and time: nothing is tried */
    bool takes_signals;          /* by an attempt: sigwait */
    const char *text;            /* what it waits for */
};

/* waits.c */
const struct __kernel_timespec *time_of(uint64_t nanoseconds, struct __kernel_timespec *to);
int64_t rest_for(uint64_t nanoseconds);
int64_t wait_until(const struct wait *it, uint64_t deadline);
int64_t wait_for_file(int file, short events);
int64_t wait_for_signal(uint64_t deadline);
uint64_t after(uint64_t nanoseconds);
uint64_t time_until(uint64_t deadline);

static inline int64_t call(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    return pass_on(number, (const uint64_t[6]){a, b, c, d, e, f});
}

/* immediate_calls.c */
int64_t wait_trying(int64_t number, const uint64_t *a, int64_t nothing, const char *text);   /* until the result is another one */
bool immediate_call(int64_t number, const uint64_t *a, int64_t *result);

/* timed_waits.c */
bool is_inside_wait(int64_t number, const uint64_t *a);
bool timed_wait_call(int64_t number, const uint64_t *a, int64_t *result);

/* endless_waits.c */
int64_t wait_for_process(int64_t number, const uint64_t *a);
bool is_interruption(const siginfo_t *info);
int64_t call_until_timer(int64_t number, const uint64_t *a);
bool endless_wait_call(int64_t number, const uint64_t *a, int64_t *result);

/* message_queues.c */
bool message_queue_call(int64_t number, const uint64_t *a, int64_t *result);

/* shared_waits.c */
bool shared_wait_call(int64_t number, uint64_t *a, int64_t *result);

/* blocking_calls.c */
struct stat;
bool opening_waits(uint64_t flags, const struct stat *status);
int64_t open_named_pipe(int64_t number, const uint64_t *a, int flags);
bool blocking_call(int64_t number, const uint64_t *a, int64_t *result);

/* wait_ends.c: whether nothing from outside can end a wait; where time ends none, a signal from outside may */
extern bool waits_endlessly;
extern bool made_process;        /* other processes may end a wait */
bool read_descriptor_info(int file, struct text *to);
bool is_inside_descriptor(int file);     /* nothing from outside can make it ready */
bool is_inside_poll(const struct wait *it);
bool is_output_of_run(int file);
bool without_children(const struct wait *it);
bool without_processes(const struct wait *it);
bool never_inside(const struct wait *it);

#endif
