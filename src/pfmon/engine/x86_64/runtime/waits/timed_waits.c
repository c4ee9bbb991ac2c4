/* Calls that wait with a time limit: poll, select and epoll, futexes, sigtimedwait, semtimedop; message_queues.c has others. */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/poll.h>

#include "signals/signals.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "waits.h"

enum { MILLISECOND = 1000000, MICROSECOND = 1000, MAX_SET_WORDS = 1024, SETS = 3 };

/* ---------------------------------------------------------------- signals, semaphores */

static int64_t attempt_signal(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    siginfo_t info;
    bool taken;
    if (!are_readable(it->a[0], 8) || (it->a[1] && !is_writable(it->a[1], sizeof(info))))
        return -EFAULT;
    block_signals();
    taken = take_waiting_signal(tried, *(const uint64_t *)it->a[0], &info);
    apply_mask();
    if (!taken)
        return call(it->number, it->a[0], it->a[1], (uint64_t)time_of(limit, &time), it->a[3], 0, 0);
    if (it->a[1])
        memcpy((void *)it->a[1], &info, sizeof(info));
    return info.si_signo;
}

static int64_t attempt_semaphore(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    return call(__NR_semtimedop, it->a[0], it->a[1], it->a[2], (uint64_t)time_of(limit, &time), 0, 0);
}

/* ---------------------------------------------------------------- poll, select, epoll */

static int64_t attempt_poll(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    return call(__NR_ppoll, it->a[0], it->a[1], (uint64_t)time_of(limit, &time), 0, 0, 0);
}

struct sets {                    /* that the guest gives */
    uint64_t words[SETS][MAX_SET_WORDS];
};

static struct sets *sets_of(const struct wait *it) {
    return (struct sets *)it->a[6];
}

static uint64_t set_words(const struct wait *it) {
    return ((uint32_t)it->a[0] + 63) / 64;
}

static int64_t attempt_select(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    int i;
    for (i = 0; i < SETS; i++)   /* an earlier attempt has emptied them */
        if (it->a[i + 1])
            memcpy((void *)it->a[i + 1], sets_of(it)->words[i], set_words(it) * 8);
    return call(__NR_pselect6, it->a[0], it->a[1], it->a[2], it->a[3], (uint64_t)time_of(limit, &time), 0);
}

static uint64_t word_of(const struct wait *it, int set, uint32_t file) {
    return it->a[set + 1] ? sets_of(it)->words[set][file / 64] : 0;
}

static bool is_inside_select(const struct wait *it) {
    uint32_t i;
    for (i = 0; i < (uint32_t)it->a[0]; i++) {
        uint64_t any = word_of(it, 0, i) | word_of(it, 1, i) | word_of(it, 2, i);
        if (any >> i % 64 & 1 && !is_inside_descriptor((int)i))
            return false;
    }
    return true;
}

/* Keep the sets that the guest gives; returns 0, or why that cannot be. */
static int64_t keep_sets(const struct wait *it) {
    int i;
    if ((int32_t)it->a[0] < 0 || set_words(it) > MAX_SET_WORDS)
        return -EINVAL;
    for (i = 0; i < SETS; i++)
        if (it->a[i + 1] && set_words(it)) {
            if (!is_writable(it->a[i + 1], set_words(it) * 8))
                return -EFAULT;
            memcpy(sets_of(it)->words[i], (const void *)it->a[i + 1], set_words(it) * 8);
        }
    return 0;
}

static int64_t wait_in_select(const uint64_t *a, uint64_t deadline) {
    struct sets sets;
    const uint64_t with_sets[7] = {a[0], a[1], a[2], a[3], 0, 0, (uint64_t)&sets};
    const struct wait wait = {.attempt = attempt_select, .is_inside = is_inside_select, .a = with_sets, .text = "in select"};
    int64_t result = keep_sets(&wait);
    return result ? result : wait_until(&wait, deadline);
}

static int64_t attempt_epoll(const struct wait *it, uint64_t limit) {
    uint64_t milliseconds = limit == NEVER ? ~(uint64_t)0 : (limit + MILLISECOND - 1) / MILLISECOND;
    if (limit != NEVER && milliseconds > 0x7FFFFFFF)
        milliseconds = 0x7FFFFFFF;
    return call(__NR_epoll_pwait, it->a[0], it->a[1], it->a[2], milliseconds, 0, 8);
}

static bool is_inside_events(const struct wait *it) {
    return is_inside_descriptor((int)it->a[0]);
}

/* Whether only the guest itself, or time, can end a call that waits for files. */
bool is_inside_wait(int64_t number, const uint64_t *a) {
    struct sets sets;
    const uint64_t with_sets[7] = {a[0], a[1], a[2], a[3], 0, 0, (uint64_t)&sets};
    const struct wait wait = {.a = with_sets};
    switch (number) {
    case __NR_poll: case __NR_ppoll:
        return is_writable(a[0], (uint32_t)a[1] * sizeof(struct pollfd)) && is_inside_poll(&wait);
    case __NR_select: case __NR_pselect6:
        return keep_sets(&wait) == 0 && is_inside_select(&wait);
    default:
        return is_inside_events(&wait);
    }
}

/* ---------------------------------------------------------------- futexes */

static int64_t attempt_futex(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time, now = {0, 0};
    uint64_t operation = it->a[1] & ~(uint64_t)FUTEX_CLOCK_REALTIME, bits = it->a[5];
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) {         /* its time is absolute */
        KERNEL2(__NR_clock_gettime, 1, &now);
        limit = limit == NEVER ? NEVER : limit + (uint64_t)now.tv_sec * BILLION + (uint64_t)now.tv_nsec;
    }
    return call(__NR_futex, it->a[0], operation, it->a[2], (uint64_t)time_of(limit, &time), 0, bits);
}

static bool futex_call(const uint64_t *a, int64_t *result) {
    const struct wait wait = {.attempt = attempt_futex, .is_inside = without_processes, .a = a, .nothing = -ETIMEDOUT};
    uint64_t command = a[1] & FUTEX_CMD_MASK & ~(uint64_t)FUTEX_CLOCK_REALTIME, deadline = NEVER, start;
    if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
        return false;
    if (a[3] && !read_time(a[3], &deadline, result))
        return true;
    if (command == FUTEX_WAIT)
        deadline = after(deadline);
    else if (a[3]) {
        start = clock_start(a[1] & FUTEX_CLOCK_REALTIME ? 0 : 1);
        deadline = deadline > start ? deadline - start : 0;
    }
    *result = wait_until(&wait, deadline);
    return true;
}

/* ---------------------------------------------------------------- calls with a time limit */

static int64_t write_left(uint64_t to, uint64_t deadline, uint64_t part, int64_t result) {
    uint64_t left;
    if (to && deadline != NEVER && is_writable(to, 16)) {
        left = time_until(deadline);
        ((uint64_t *)to)[0] = left / BILLION;
        ((uint64_t *)to)[1] = left % BILLION / part;
    }
    return result;
}

/* The deadline of a struct timespec, or with `part` of a struct timeval; no address: NEVER. */
static int64_t read_deadline(uint64_t from, uint64_t part, uint64_t *deadline) {
    uint64_t nanoseconds = NEVER;
    int64_t error;
    if (from && part == 1 && !read_time(from, &nanoseconds, &error))
        return error;
    if (from && part != 1) {
        const int64_t *words = (const int64_t *)from;
        if (!are_readable(from, 16))
            return -EFAULT;
        if (words[0] < 0 || words[1] < 0)
            return -EINVAL;
        nanoseconds = nanoseconds_of((uint64_t)words[0] + (uint64_t)words[1] / 1000000,
                                     (uint64_t)words[1] % 1000000 * part);
    }
    *deadline = after(nanoseconds);
    return 0;
}

static uint64_t after_milliseconds(uint64_t given) {
    return (int32_t)given < 0 ? NEVER : after((uint32_t)given * (uint64_t)MILLISECOND);
}

static int64_t wait_in_poll(const uint64_t *a, uint64_t deadline) {
    const struct wait wait = {.attempt = attempt_poll, .is_inside = is_inside_poll, .a = a, .text = "in poll"};
    return wait_until(&wait, deadline);
}

static int64_t wait_in_epoll(const uint64_t *a, uint64_t deadline) {
    const struct wait wait = {.attempt = attempt_epoll, .is_inside = is_inside_events, .a = a, .text = "for events"};
    return wait_until(&wait, deadline);
}

/* poll and its like, with the deadline that they were given; `mask`: where the signal mask for the wait is, or 0. */
static int64_t wait_masked(int64_t (*wait)(const uint64_t *, uint64_t), const uint64_t *a, uint64_t deadline, uint64_t mask,
                           uint64_t mask_bytes) {
    int64_t result = mask ? begin_wait_mask(mask, mask_bytes) : 0;
    if (result)
        return result;
    result = wait(a, deadline);
    return mask ? end_wait_mask(result) : result;
}

static int64_t timed_poll(int64_t number, const uint64_t *a) {
    uint64_t deadline;
    int64_t result;
    if (number == __NR_poll)
        return wait_in_poll(a, after_milliseconds(a[2]));
    result = read_deadline(a[2], 1, &deadline);
    return result ? result : write_left(a[2], deadline, 1, wait_masked(wait_in_poll, a, deadline, a[3], a[4]));
}

static int64_t timed_select(int64_t number, const uint64_t *a) {
    uint64_t deadline, part = number == __NR_select ? MICROSECOND : 1;
    const uint64_t *mask = (const uint64_t *)(number == __NR_select ? 0 : a[5]);
    int64_t result = read_deadline(a[4], part, &deadline);
    if (result)
        return result;
    if (mask && !are_readable((uint64_t)mask, 16))
        return -EFAULT;
    return write_left(a[4], deadline, part,
                      wait_masked(wait_in_select, a, deadline, mask ? mask[0] : 0, mask ? mask[1] : 0));
}

static int64_t timed_epoll(int64_t number, const uint64_t *a) {
    uint64_t deadline = after_milliseconds(a[3]);
    int64_t result = number == __NR_epoll_pwait2 ? read_deadline(a[3], 1, &deadline) : 0;
    if (result)
        return result;
    return number == __NR_epoll_wait ? wait_in_epoll(a, deadline) : wait_masked(wait_in_epoll, a, deadline, a[4], a[5]);
}

static int64_t timed_signal(int64_t number, const uint64_t *a) {
    const struct wait wait = {.attempt = attempt_signal, .is_inside = without_children, .number = number, .a = a,
                              .nothing = -EAGAIN, .takes_signals = true, .text = "for a signal"};
    uint64_t deadline;
    int64_t result = a[3] == 8 ? read_deadline(a[2], 1, &deadline) : -EINVAL;
    if (result == 0)
        result = wait_until(&wait, deadline);
    if (result > 0 && a[1])
        show_sender((siginfo_t *)a[1]);
    return result;
}

static int64_t timed_semaphore(const uint64_t *a) {
    const struct wait wait = {.attempt = attempt_semaphore, .is_inside = without_processes, .a = a, .nothing = -EAGAIN,
                              .text = "for a semaphore"};
    uint64_t deadline;
    int64_t result = read_deadline(a[3], 1, &deadline);
    return result ? result : wait_until(&wait, deadline);
}

bool timed_wait_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (world.flags & HOST_CLOCK && !threaded)
        return false;
    switch (number) {
    case __NR_poll: case __NR_ppoll:
        *result = timed_poll(number, a);
        return true;
    case __NR_select: case __NR_pselect6:
        *result = timed_select(number, a);
        return true;
    case __NR_epoll_wait: case __NR_epoll_pwait: case __NR_epoll_pwait2:
        *result = timed_epoll(number, a);
        return true;
    case __NR_futex:
        return futex_call(a, result);
    case __NR_rt_sigtimedwait:
        *result = timed_signal(number, a);
        return true;
    case __NR_semop:
        if (!threaded && !others_exist())
            return false;
        *result = timed_semaphore((const uint64_t[6]){a[0], a[1], a[2]});
        return true;
    case __NR_semtimedop:
        *result = timed_semaphore(a);
        return true;
    default:
        return message_queue_call(number, a, result);
    }
}
