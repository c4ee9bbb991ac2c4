/* System calls of timers: setitimer and alarm, timer_create, timerfd. */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/time.h>

#include "runtime.h"
#include "signals/signals.h"
#include "threads/thread.h"
#include "timers.h"
#include "world.h"

enum { MICROSECOND = 1000 };

/* ---------------------------------------------------------------- settings */

/* struct itimerval, or itimerspec; `part`: nanoseconds of the unit of its parts. */
static int64_t write_setting(const struct timer *it, uint64_t to, uint64_t part) {
    uint64_t left = time_left(it), *words = (uint64_t *)to;
    if (!is_writable(to, 32))
        return -EFAULT;
    if (left && left < part)
        left = part;
    words[0] = it->interval / BILLION;
    words[1] = it->interval % BILLION / part;
    words[2] = left / BILLION;
    words[3] = left % BILLION / part;
    return 0;
}

static int64_t read_setting(uint64_t from, uint64_t part, uint64_t *interval, uint64_t *value) {
    const int64_t *words = (const int64_t *)from;
    int i;
    if (!are_readable(from, 32))
        return -EFAULT;
    for (i = 0; i < 4; i += 2)
        if (words[i] < 0 || words[i + 1] < 0 || words[i + 1] >= (int64_t)(BILLION / part))
            return -EINVAL;
    *interval = nanoseconds_of((uint64_t)words[0], (uint64_t)words[1] * part);
    *value = nanoseconds_of((uint64_t)words[2], (uint64_t)words[3] * part);
    return 0;
}

/* Set a timer as `from` says, after its setting was written to `old`, if given. */
static int64_t change_timer(struct timer *it, uint64_t from, uint64_t old, uint64_t part, bool absolute) {
    uint64_t interval = 0, value = 0;
    int64_t result = from || it->kind != INTERVAL ? read_setting(from, part, &interval, &value) : 0;
    if (result == 0 && old)
        result = write_setting(it, old, part);
    if (result == 0)
        set_timer(it, interval, value, absolute);
    return result;
}

/* Whole seconds that were left, rounded as Linux does: no set timer has 0. */
static int64_t set_alarm(uint32_t seconds) {
    uint64_t left = time_left(&timers[0]), whole = left / BILLION, rest = left % BILLION;
    set_timer(&timers[0], 0, seconds * BILLION, false);
    return (int64_t)(whole + ((whole == 0 && rest) || rest >= BILLION / 2));
}

static struct timer *new_timer(uint8_t kind, uint64_t clock) {
    int i;
    for (i = INTERVAL_TIMERS; i < MAX_TIMERS; i++)
        if (!timers[i].kind) {
            timers[i] = (struct timer){.kind = kind, .clock = clock, .of_processor = is_processor_time(clock)};
            return &timers[i];
        }
    return NULL;
}

static int64_t create_timer(uint64_t clock, uint64_t event, uint64_t result) {
    struct sigevent wanted = {.sigev_signo = SIGALRM, .sigev_notify = SIGEV_SIGNAL};
    struct timer *it;
    int number;
    if (!is_clock(clock))
        return -EINVAL;
    if (event) {
        if (!are_readable(event, 24))
            return -EFAULT;
        memcpy(&wanted, (const void *)event, 24);
        if (wanted.sigev_notify == SIGEV_THREAD_ID && !thread_of((uint32_t)wanted._sigev_un._tid))
            return -EINVAL;
        if (wanted.sigev_notify != SIGEV_SIGNAL && wanted.sigev_notify != SIGEV_NONE
            && wanted.sigev_notify != SIGEV_THREAD_ID)
            return -EINVAL;
        if (wanted.sigev_notify != SIGEV_NONE && (wanted.sigev_signo < 1 || wanted.sigev_signo > SIGNALS))
            return -EINVAL;
    }
    if (!is_writable(result, sizeof(number)))
        return -EFAULT;
    it = new_timer(POSIX, clock);
    if (!it)
        return -EAGAIN;
    number = (int)(it - timers - INTERVAL_TIMERS);
    it->signal = wanted.sigev_notify == SIGEV_NONE ? NO_SIGNAL : wanted.sigev_signo;
    it->thread = threaded && wanted.sigev_notify == SIGEV_THREAD_ID ? (uint32_t)wanted._sigev_un._tid : 0;
    it->value = event ? (uint64_t)wanted.sigev_value.sival_ptr : (uint64_t)number;
    memcpy((void *)result, &number, sizeof(number));
    return 0;
}

static struct timer *posix_timer(uint64_t number) {
    struct timer *it = &timers[INTERVAL_TIMERS + (uint32_t)number % (MAX_TIMERS - INTERVAL_TIMERS)];
    return (uint32_t)number < MAX_TIMERS - INTERVAL_TIMERS && it->kind == POSIX ? it : NULL;
}

/* ---------------------------------------------------------------- timerfd */

static int64_t create_file(uint64_t clock, uint64_t flags) {
    struct timer *it;
    int64_t file;
    if ((clock != 0 && clock != 1 && clock != 7) || flags & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    file = KERNEL2(__NR_eventfd2, 0, flags);
    if (failed(file))
        return file;
    it = new_timer(TIMER_FILE, clock);
    if (!it || !eventfd_number((int)file, &it->file_id)) {
        KERNEL1(__NR_close, file);
        return -EMFILE;
    }
    it->file = (int)file;
    return file;
}

/* The timer of an open file; NULL: `error` says why there is none. */
static struct timer *timer_of_file(int file, int64_t *error) {
    uint64_t number;
    int i;
    *error = KERNEL3(__NR_fcntl, file, F_GETFD, 0);
    if (failed(*error))
        return NULL;
    *error = -EINVAL;
    if (!eventfd_number(file, &number))
        return NULL;
    for (i = INTERVAL_TIMERS; i < MAX_TIMERS; i++)
        if (timers[i].kind == TIMER_FILE && timers[i].file_id == number && (number || timers[i].file == file)) {
            timers[i].file = file;
            return &timers[i];
        }
    return NULL;
}

static int64_t set_file(const uint64_t *a) {
    int64_t result;
    uint64_t count;
    struct timer *it = timer_of_file((int)a[0], &result);
    struct pollfd wanted = {.fd = (int)a[0], .events = POLLIN};
    if (!it)
        return result;
    if (KERNEL3(__NR_poll, &wanted, 1, 0) == 1)      /* earlier expiries are forgotten */
        KERNEL3(__NR_read, a[0], &count, sizeof(count));
    return change_timer(it, a[2], a[3], 1, a[1] & TIMER_ABSTIME);
}

static int64_t get_file(const uint64_t *a) {
    int64_t result;
    struct timer *it = timer_of_file((int)a[0], &result);
    return it ? write_setting(it, a[1], 1) : result;
}

/* ---------------------------------------------------------------- system calls */

static bool interval_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_alarm:
        *result = set_alarm((uint32_t)a[0]);
        return true;
    case __NR_setitimer:
        *result = (uint32_t)a[0] < INTERVAL_TIMERS ? change_timer(&timers[(uint32_t)a[0]], a[1], a[2], MICROSECOND, false)
                                                   : -EINVAL;
        return true;
    case __NR_getitimer:
        *result = (uint32_t)a[0] < INTERVAL_TIMERS ? write_setting(&timers[(uint32_t)a[0]], a[1], MICROSECOND) : -EINVAL;
        return true;
    case __NR_timerfd_create:
        *result = create_file((uint32_t)a[0], (uint32_t)a[1]);
        return true;
    case __NR_timerfd_settime:
        *result = set_file(a);
        return true;
    case __NR_timerfd_gettime:
        *result = get_file(a);
        return true;
    default:
        return false;
    }
}

static bool posix_call(int64_t number, const uint64_t *a, int64_t *result) {
    struct timer *it = posix_timer(a[0]);
    if (number == __NR_timer_create) {
        *result = create_timer((uint32_t)a[0], a[1], a[2]);
        return true;
    }
    if (number != __NR_timer_settime && number != __NR_timer_gettime && number != __NR_timer_getoverrun
        && number != __NR_timer_delete)
        return false;
    if (!it)
        *result = -EINVAL;
    else if (number == __NR_timer_settime)
        *result = change_timer(it, a[2], a[3], 1, a[1] & TIMER_ABSTIME);
    else if (number == __NR_timer_gettime)
        *result = write_setting(it, a[1], 1);
    else if (number == __NR_timer_getoverrun)
        *result = (int64_t)(it->overrun < 0x7FFFFFFF ? it->overrun : 0x7FFFFFFF);
    else {
        memset(it, 0, sizeof(*it));
        *result = 0;
    }
    return true;
}

bool timer_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (world.flags & HOST_CLOCK)
        return host_timer_call(number, a, result);
    return interval_call(number, a, result) || posix_call(number, a, result);
}
