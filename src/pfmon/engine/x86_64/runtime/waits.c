/* Calls that wait. The guest's time passes at once when nothing but time can end a wait; where input may come from outside, the
   host's time passes, at most until the wait or a timer of the guest ends, and only a wait without input takes time of the
   guest. */

#include <asm/socket.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/time_types.h>
#include <linux/wait.h>

#include "runtime.h"
#include "text.h"

enum {
    MILLISECOND = 1000000, MICROSECOND = 1000, BETWEEN_ATTEMPTS = 5 * MILLISECOND, MAX_SET_WORDS = 1024, SETS = 3,
    LOCK_WITHOUT_WAIT = 4,       /* flock(2): LOCK_NB */
    MESSAGE_WITHOUT_WAIT = 0x40, /* recv(2): MSG_DONTWAIT */
    SOCKET_LEVEL = 1, UNIX_FAMILY = 1, UNNAMED = 2   /* bytes of an address without a name (unix(7)) */
};

struct wait {
    int64_t (*attempt)(const struct wait *it, uint64_t limit);   /* nanoseconds of the host; NEVER: without end */
    bool (*is_inside)(const struct wait *it);        /* only the guest itself or time can end it */
    int64_t number;
    const uint64_t *a;
    int64_t nothing;             /* the result of an attempt whose limit has passed */
    bool polled;                 /* an attempt with a limit returns at once */
};

bool made_process;
static struct stat inherited[3];

void waits_begin(void) {
    int i;
    for (i = 0; i < 3; i++)
        KERNEL2(__NR_fstat, i, &inherited[i]);
}

static const struct __kernel_timespec *time_of(uint64_t nanoseconds, struct __kernel_timespec *to) {
    to->tv_sec = (int64_t)(nanoseconds / BILLION);
    to->tv_nsec = (long long)(nanoseconds % BILLION);
    return nanoseconds == NEVER ? NULL : to;
}

static int64_t call(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    return pass_on(number, (const uint64_t[6]){a, b, c, d, e, f});
}

/* ---------------------------------------------------------------- what can end a wait */

static bool has_children(void) {
    return made_process && KERNEL4(__NR_waitid, P_ALL, 0, 0, WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED) != -ECHILD;
}

static bool is_pair(int file) {
    uint64_t address[16];
    int family = 0;
    uint32_t bytes = sizeof(family), own = sizeof(address), other = sizeof(address);
    KERNEL6(__NR_getsockopt, file, SOCKET_LEVEL, SO_DOMAIN, &family, &bytes, 0);
    return family == UNIX_FAMILY && KERNEL3(__NR_getsockname, file, address, &own) == 0 && own == UNNAMED
        && KERNEL3(__NR_getpeername, file, address, &other) == 0 && other == UNNAMED;
}

/* What /proc tells of a descriptor. */
bool read_descriptor_info(int file, struct text *to) {
    int64_t info, bytes;
    begin_text(to, NO_FILE);
    put_text(to, "/proc/self/fdinfo/");
    put_number(to, (uint32_t)file);
    info = KERNEL3(__NR_open, to->bytes, O_RDONLY | O_CLOEXEC, 0);
    if (failed(info))
        return false;
    bytes = KERNEL3(__NR_read, info, to->bytes, TEXT_ROOM - 1);
    KERNEL1(__NR_close, info);
    to->length = bytes > 0 ? (uint32_t)bytes : 0;
    to->bytes[to->length] = 0;
    return bytes > 0 && bytes < TEXT_ROOM - 1;
}

static bool is_inside_file(int file, int depth);

static bool is_inside_epoll(int file, int depth) {
    struct text info;
    const char *at;
    if (depth == 0 || !read_descriptor_info(file, &info))
        return false;
    for (at = info.bytes; *at; at++)
        if (begins_with(at, "tfd:")) {
            at += 4;
            while (*at == ' ')
                at++;
            if (!is_inside_file((int)take_number(&at), depth - 1))
                return false;
        }
    return true;
}

/* Whether only the guest itself, or time, can make a file ready. */
static bool is_inside_file(int file, int depth) {
    struct stat status;
    struct text path;
    int i;
    if (KERNEL2(__NR_fstat, file, &status))
        return true;
    for (i = 0; i < 3; i++)
        if (inherited[i].st_dev == status.st_dev && inherited[i].st_ino == status.st_ino)
            return false;
    if ((status.st_mode & S_IFMT) == S_IFREG)
        return true;
    path_of_file(file, &path);
    if (begins_with(path.bytes, "anon_inode:[eventpoll]"))
        return is_inside_epoll(file, depth);
    if (begins_with(path.bytes, "socket:"))
        return is_pair(file);
    return begins_with(path.bytes, "pipe:") || begins_with(path.bytes, "anon_inode:[eventfd]")
        || begins_with(path.bytes, "anon_inode:[signalfd]");
}

bool is_inside_descriptor(int file) {
    return !made_process && is_inside_file(file, 2);
}

static bool without_children(const struct wait *it) {
    (void)it;
    return !has_children();
}

static bool without_processes(const struct wait *it) {
    (void)it;
    return !made_process;
}

static bool never_inside(const struct wait *it) {
    (void)it;
    return false;
}

/* ---------------------------------------------------------------- waiting */

static int64_t rest(uint64_t nanoseconds) {
    struct __kernel_timespec time;
    return call(__NR_ppoll, 0, 0, (uint64_t)time_of(nanoseconds, &time), 0, 0, 0);
}

static int64_t attempt_for(const struct wait *it, uint64_t limit) {
    uint64_t rested, step;
    int64_t result;
    if (!it->polled || limit == 0 || limit == NEVER)
        return it->attempt(it, limit);
    for (rested = 0; rested < limit; rested += step) {
        step = limit - rested < BETWEEN_ATTEMPTS ? limit - rested : BETWEEN_ATTEMPTS;
        if (rest(step) == -EINTR)
            return -EINTR;
        result = it->attempt(it, 0);
        if (result != it->nothing)
            return result;
    }
    return it->nothing;
}

/* Wait until an attempt succeeds, a signal arrives, or time reaches the deadline. */
static int64_t wait_until(const struct wait *it, uint64_t deadline) {
    uint64_t now, end;
    int64_t result;
    for (;;) {
        fire_timers();
        result = it->attempt(it, 0);
        if (result != it->nothing)
            return result;
        if (state->pending)
            return -EINTR;
        now = elapsed();
        if (now >= deadline)
            return result;
        end = next_timer();
        if (deadline < end)
            end = deadline;
        if (end == NEVER || !it->is_inside(it)) {
            result = attempt_for(it, end == NEVER ? NEVER : end - now);
            if (result != it->nothing || end == NEVER)
                return result;
        }
        pass_time(end - now);
    }
}

static uint64_t after(uint64_t nanoseconds) {
    uint64_t now;
    if (nanoseconds == NEVER)
        return NEVER;
    now = elapsed();
    return nanoseconds < NEVER - now ? now + nanoseconds : NEVER;
}

static uint64_t time_until(uint64_t deadline) {
    uint64_t now = elapsed();
    return deadline > now ? deadline - now : 0;
}

/* ---------------------------------------------------------------- signals */

static int64_t attempt_nothing(const struct wait *it, uint64_t limit) {
    (void)it;
    return rest(limit);
}

/* Wait for a signal, or until time reaches the deadline. */
int64_t wait_for_signal(uint64_t deadline) {
    const struct wait wait = {.attempt = attempt_nothing, .is_inside = without_children};
    if (world.flags & HOST_CLOCK)
        return rest(NEVER);
    return wait_until(&wait, deadline);
}

static int64_t attempt_signal(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    return call(it->number, it->a[0], it->a[1], (uint64_t)time_of(limit, &time), it->a[3], 0, 0);
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

static bool is_inside_poll(const struct wait *it) {
    const struct pollfd *files = (const struct pollfd *)it->a[0];
    uint32_t i;
    for (i = 0; i < (uint32_t)it->a[1]; i++)
        if (files[i].fd >= 0 && !is_inside_descriptor(files[i].fd))
            return false;
    return true;
}

static uint64_t sets[SETS][MAX_SET_WORDS];

static uint64_t set_words(const struct wait *it) {
    return ((uint32_t)it->a[0] + 63) / 64;
}

static int64_t attempt_select(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    int i;
    for (i = 0; i < SETS; i++)   /* an earlier attempt has emptied them */
        if (it->a[i + 1])
            memcpy((void *)it->a[i + 1], sets[i], set_words(it) * 8);
    return call(__NR_pselect6, it->a[0], it->a[1], it->a[2], it->a[3], (uint64_t)time_of(limit, &time), 0);
}

static bool is_inside_select(const struct wait *it) {
    uint32_t i;
    for (i = 0; i < (uint32_t)it->a[0]; i++) {
        uint64_t any = (it->a[1] ? sets[0][i / 64] : 0) | (it->a[2] ? sets[1][i / 64] : 0) | (it->a[3] ? sets[2][i / 64] : 0);
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
            memcpy(sets[i], (const void *)it->a[i + 1], set_words(it) * 8);
        }
    return 0;
}

static int64_t wait_in_select(const uint64_t *a, uint64_t deadline) {
    const struct wait wait = {.attempt = attempt_select, .is_inside = is_inside_select, .a = a};
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
    const struct wait wait = {.a = a};
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
        if (!is_readable(from) || !is_readable(from + 8))
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
    const struct wait wait = {.attempt = attempt_poll, .is_inside = is_inside_poll, .a = a};
    return wait_until(&wait, deadline);
}

static int64_t wait_in_epoll(const uint64_t *a, uint64_t deadline) {
    const struct wait wait = {.attempt = attempt_epoll, .is_inside = is_inside_events, .a = a};
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
    if (mask && (!is_readable((uint64_t)mask) || !is_readable((uint64_t)mask + 8)))
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
                              .nothing = -EAGAIN};
    uint64_t deadline;
    int64_t result = read_deadline(a[2], 1, &deadline);
    if (result == 0)
        result = wait_until(&wait, deadline);
    if (result > 0 && a[1])
        show_sender((siginfo_t *)a[1]);
    return result;
}

static int64_t timed_semaphore(const uint64_t *a) {
    const struct wait wait = {.attempt = attempt_semaphore, .is_inside = without_processes, .a = a, .nothing = -EAGAIN};
    uint64_t deadline;
    int64_t result = read_deadline(a[3], 1, &deadline);
    return result ? result : wait_until(&wait, deadline);
}

/* ---------------------------------------------------------------- calls without one, while a timer is set */

static int64_t attempt_own_poll(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    return call(__NR_ppoll, it->a[0], 1, (uint64_t)time_of(limit, &time), 0, 0, 0);
}

/* Wait until a file is ready; -EINTR: a signal arrived. */
static int64_t wait_for_file(int file, short events) {
    struct pollfd wanted = {.fd = file, .events = events};
    const uint64_t a[2] = {(uint64_t)&wanted, 1};
    const struct wait wait = {.attempt = attempt_own_poll, .is_inside = is_inside_poll, .a = a};
    int64_t flags = KERNEL3(__NR_fcntl, file, F_GETFL, 0);
    return failed(flags) || flags & O_NONBLOCK ? 0 : wait_until(&wait, NEVER);
}

static int64_t message_flags(int64_t number, const uint64_t *a) {
    switch (number) {
    case __NR_recvfrom: case __NR_sendto:
        return (int64_t)a[3];
    case __NR_recvmsg: case __NR_sendmsg:
        return (int64_t)a[2];
    default:
        return 0;
    }
}

static bool file_call(int64_t number, const uint64_t *a, int64_t *result) {
    short events;
    switch (number) {
    case __NR_read: case __NR_readv: case __NR_recvfrom: case __NR_recvmsg: case __NR_accept: case __NR_accept4:
        events = POLLIN;
        break;
    case __NR_write: case __NR_writev: case __NR_sendto: case __NR_sendmsg:
        events = POLLOUT;
        break;
    default:
        return false;
    }
    if (message_flags(number, a) & MESSAGE_WITHOUT_WAIT)
        return false;
    *result = wait_for_file((int)a[0], events);
    return *result == -EINTR;
}

static int64_t attempt_lock(const struct wait *it, uint64_t limit) {
    const uint64_t *a = it->a;
    if (limit == NEVER)
        return pass_on(it->number, a);
    if (it->number == __NR_flock)
        return call(__NR_flock, a[0], a[1] | LOCK_WITHOUT_WAIT, 0, 0, 0, 0);
    return call(__NR_fcntl, a[0], a[1] - 1, a[2], 0, 0, 0);      /* F_SETLKW is F_SETLK + 1 */
}

static bool lock_call(int64_t number, const uint64_t *a, int64_t *result) {
    const struct wait wait = {.attempt = attempt_lock, .is_inside = never_inside, .number = number, .a = a,
                              .nothing = -EAGAIN, .polled = true};
    if (!(number == __NR_flock && !(a[1] & LOCK_WITHOUT_WAIT))
        && !(number == __NR_fcntl && ((uint32_t)a[1] == F_SETLKW || (uint32_t)a[1] == F_OFD_SETLKW)))
        return false;
    *result = wait_until(&wait, NEVER);
    return true;
}

static int64_t attempt_process(const struct wait *it, uint64_t limit) {
    siginfo_t info;
    int64_t result;
    if (limit == NEVER)
        return pass_on(it->number, it->a);
    if (it->number == __NR_wait4)
        return call(__NR_wait4, it->a[0], it->a[1], it->a[2] | WNOHANG, it->a[3], 0, 0);
    memset(&info, 0, sizeof(info));
    result = call(__NR_waitid, it->a[0], it->a[1], (uint64_t)&info, it->a[3] | WNOHANG | WNOWAIT, 0, 0);
    return result ? result : info.si_pid ? pass_on(it->number, it->a) : it->nothing;
}

/* wait4 and waitid, with the host's numbers. */
int64_t wait_for_process(int64_t number, const uint64_t *a) {
    const struct wait wait = {.attempt = attempt_process, .is_inside = never_inside, .number = number, .a = a,
                              .nothing = number == __NR_wait4 ? 0 : -EAGAIN, .polled = true};
    uint64_t options = number == __NR_wait4 ? a[2] : a[3];
    return next_timer() == NEVER || options & WNOHANG ? pass_on(number, a) : wait_until(&wait, NEVER);
}

bool wait_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (world.flags & HOST_CLOCK)
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
    case __NR_semtimedop:
        *result = timed_semaphore(a);
        return true;
    case __NR_pause:
        *result = wait_for_signal(NEVER);
        return true;
    case __NR_wait4: case __NR_waitid:       /* with the host's numbers: ids.c has the others */
        *result = wait_for_process(number, a);
        return true;
    default:
        return next_timer() != NEVER && (file_call(number, a, result) || lock_call(number, a, result));
    }
}
