/* The guest's clocks: time passes with the instructions that retire, one nanosecond each, and with waits, which take no
   time of the host. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/resource.h>
#include <linux/time.h>
#include <linux/time_types.h>

#include "countdown.h"
#include "runtime.h"
#include "threads/thread.h"
#include "waits/waits.h"
#include "world.h"

enum { TICKS = 100 /* a second, of times(2) */, OF_THREAD = 4 };

static uint64_t waited;          /* nanoseconds that the guest has slept or waited */
static uint64_t begun;           /* the host's time then */

uint64_t host_time(uint64_t clock) {
    struct __kernel_timespec now;
    KERNEL2(__NR_clock_gettime, clock, &now);
    return (uint64_t)now.tv_sec * BILLION + (uint64_t)now.tv_nsec;
}

void clock_begin(void) {
    begun = host_time(CLOCK_MONOTONIC);
}

uint64_t instructions_retired(void) {
    if (counts_down())
        return instructions_counted_down();
    if (world.flags & REGIONS_ALONE)
        return count_runs() + count_words();
    return area->totals ? count_runs() : count_words();
}

uint64_t elapsed_at(uint64_t retired) {
    return world.flags & HOST_CLOCK ? host_time(CLOCK_MONOTONIC) - begun : retired + waited;
}

uint64_t elapsed(void) {
    return elapsed_at(instructions_retired());
}

/* Time passes without instructions. */
void pass_time(uint64_t nanoseconds) {
    waited += nanoseconds;
}

/* In one of several processes, which have passed time meanwhile. */
void set_elapsed(uint64_t nanoseconds) {
    waited = nanoseconds - instructions_retired();
}

static bool is_real_time(uint64_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

bool is_processor_time(uint64_t clock) {
    return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock > CLOCK_TAI;    /* also negative numbers: clocks of a process */
}

/* Whether there is such a clock: negative numbers are processor times of a process or thread (clock_getcpuclockid(3)). */
bool is_clock(uint64_t clock) {
    int32_t number = (int32_t)clock;
    return number < 0 ? (number & 3) == 2 : number <= CLOCK_TAI && number != 10;
}

/* The clock's time when the program began. */
uint64_t clock_start(uint64_t clock) {
    if (world.flags & HOST_CLOCK)
        return host_time(clock) - elapsed();
    return (is_real_time(clock) ? world.epoch : is_processor_time(clock) ? 0 : world.boot) * BILLION;
}

/* The thread whose processor time a clock is (clock_getcpuclockid(3)); NULL: it is another clock. */
static const struct guest_thread *thread_of_clock(uint64_t clock) {
    int32_t number = (int32_t)clock;
    if (clock == CLOCK_THREAD_CPUTIME_ID)
        return running;
    return number < 0 && number & OF_THREAD ? thread_of((uint32_t)~(number >> 3)) : NULL;
}

uint64_t clock_time(uint64_t clock) {
    const struct guest_thread *thread = thread_of_clock(clock);
    if (thread)
        return retired_by(thread);
    return clock_start(clock) + (is_processor_time(clock) ? instructions_retired() : elapsed());
}

static int64_t write_time(uint64_t to, uint64_t nanoseconds, uint64_t part) {
    if (!is_writable(to, 16))
        return -EFAULT;
    ((uint64_t *)to)[0] = nanoseconds / BILLION;
    ((uint64_t *)to)[1] = nanoseconds % BILLION / part;
    return 0;
}

static int64_t get_time_of_day(const uint64_t *a) {
    int64_t result = a[0] ? write_time(a[0], clock_time(CLOCK_REALTIME), 1000) : 0;
    if (result || !a[1])
        return result;
    if (!is_writable(a[1], 8))
        return -EFAULT;
    memset((void *)a[1], 0, 8);  /* a time zone */
    return 0;
}

static int64_t get_seconds(uint64_t to) {
    uint64_t seconds = clock_time(CLOCK_REALTIME) / BILLION;
    if (to && !is_writable(to, 8))
        return -EFAULT;
    if (to)
        *(uint64_t *)to = seconds;
    return (int64_t)seconds;
}

/* A struct timespec in nanoseconds; false: `error` says why not. */
bool read_time(uint64_t from, uint64_t *nanoseconds, int64_t *error) {
    const struct __kernel_timespec *time = (const struct __kernel_timespec *)from;
    *error = -EFAULT;
    if (!are_readable(from, sizeof(*time)))
        return false;
    *error = -EINVAL;
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= BILLION)
        return false;
    *nanoseconds = nanoseconds_of((uint64_t)time->tv_sec, (uint64_t)time->tv_nsec);
    return true;
}

/* Seconds beyond what 63 bits of nanoseconds hold are as good as endless. */
uint64_t nanoseconds_of(uint64_t seconds, uint64_t rest) {
    return seconds >= NEVER / BILLION ? NEVER : seconds * BILLION + rest;
}

static int64_t sleep_until(uint64_t clock, bool absolute, uint64_t request, uint64_t left_at) {
    uint64_t wanted, now, deadline, start = elapsed();
    int64_t result;
    if (!is_clock(clock) || clock == CLOCK_THREAD_CPUTIME_ID)
        return -EINVAL;
    if (!read_time(request, &wanted, &result))
        return result;
    if (absolute) {
        now = clock_time(clock);
        wanted = wanted > now ? wanted - now : 0;
    }
    deadline = start + wanted;
    result = wait_for_signal(deadline);
    if (result == -EINTR && left_at && !absolute) {
        now = elapsed();
        result = write_time(left_at, deadline > now ? deadline - now : 0, 1);
        return result ? result : -EINTR;
    }
    return result;
}

/* Processor time is that of the instructions; other resources are not counted. */
static int64_t get_usage(int64_t whose, uint64_t to) {
    if ((int32_t)whose != RUSAGE_SELF && (int32_t)whose != RUSAGE_THREAD && (int32_t)whose != RUSAGE_CHILDREN)
        return -EINVAL;
    if (!is_writable(to, 144))
        return -EFAULT;
    memset((void *)to, 0, 144);
    return write_time(to, (int32_t)whose == RUSAGE_CHILDREN ? 0 : (int32_t)whose == RUSAGE_THREAD ? retired_by(running) : instructions_retired(), 1000);
}

static int64_t get_ticks(uint64_t to) {
    if (to && !is_writable(to, 32))
        return -EFAULT;
    if (to) {
        memset((void *)to, 0, 32);
        *(uint64_t *)to = instructions_retired() / (BILLION / TICKS);
    }
    return (int64_t)((world.boot * BILLION + elapsed()) / (BILLION / TICKS));
}

static int64_t refuse_time(uint64_t from) {
    uint64_t wanted;
    int64_t error;
    return read_time(from, &wanted, &error) ? -EPERM : error;
}

bool clock_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (world.flags & HOST_CLOCK && !(threaded && (number == __NR_nanosleep || number == __NR_clock_nanosleep)))
        return false;
    switch (number) {
    case __NR_clock_gettime:
        *result = is_clock(a[0]) ? write_time(a[1], clock_time(a[0]), 1) : -EINVAL;
        return true;
    case __NR_clock_getres:
        *result = !is_clock(a[0]) ? -EINVAL : a[1] ? write_time(a[1], 1, 1) : 0;
        return true;
    case __NR_gettimeofday:
        *result = get_time_of_day(a);
        return true;
    case __NR_time:
        *result = get_seconds(a[0]);
        return true;
    case __NR_getrusage:
        *result = get_usage((int64_t)a[0], a[1]);
        return true;
    case __NR_times:
        *result = get_ticks(a[0]);
        return true;
    case __NR_nanosleep:
        *result = sleep_until(CLOCK_MONOTONIC, false, a[0], a[1]);
        return true;
    case __NR_clock_nanosleep:
        *result = sleep_until(a[0], a[1] & TIMER_ABSTIME, a[2], a[3]);
        return true;
    case __NR_clock_settime:
        *result = (uint32_t)a[0] == CLOCK_REALTIME ? refuse_time(a[1]) : -EINVAL;
        return true;
    case __NR_settimeofday:
        *result = -EPERM;
        return true;
    default:
        return clock_state_call(number, a, result);
    }
}
