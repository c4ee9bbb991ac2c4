/* Calls that wait without a time limit, while a timer of the guest is set, whose signal may end them. */

#include <asm/siginfo.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/time.h>
#include <linux/wait.h>

#include "tasks/schedule.h"
#include "threads/thread.h"
#include "waits.h"

enum {
    USAGE_BYTES = 144,           /* struct rusage */
    BETWEEN_LOOKS = 1000000,     /* nanoseconds of the host */
    SHORTEST_WAIT = 100000000,   /* nanoseconds of the host: a call that does not wait is not interrupted */
    MESSAGE_WITHOUT_WAIT = 0x40  /* recv(2): MSG_DONTWAIT */
};

static int64_t attempt_own_poll(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    return call(__NR_ppoll, it->a[0], 1, (uint64_t)time_of(limit, &time), 0, 0, 0);
}

/* Wait until a file is ready; -EINTR: a signal arrived. */
int64_t wait_for_file(int file, short events) {
    struct pollfd wanted = {.fd = file, .events = events};
    const uint64_t a[2] = {(uint64_t)&wanted, 1};
    const struct wait wait = {.attempt = attempt_own_poll, .is_inside = is_inside_poll, .a = a, .text = "for a file"};
    int64_t flags = KERNEL3(__NR_fcntl, file, F_GETFL, 0);
    uint64_t turns;
    int64_t result;
    if (failed(flags) || flags & O_NONBLOCK)
        return 0;
    do {
        turns = turns_so_far();
        result = wait_until(&wait, NEVER);
    } while (result > 0 && turns != turns_so_far() && attempt_own_poll(&wait, 0) == 0);      /* another thread was faster */
    return result;
}

static bool is_socket(uint64_t file) {
    struct stat status;
    return KERNEL2(__NR_fstat, file, &status) == 0 && (status.st_mode & S_IFMT) == S_IFSOCK;
}

/* Whether a call reads, and may wait for it. */
static bool may_wait_for_input(int64_t number, const uint64_t *a) {
    switch (number) {
    case __NR_read: case __NR_readv:
        return true;
    case __NR_accept: case __NR_accept4:
        return is_socket(a[0]);
    case __NR_recvfrom: case __NR_recvmmsg:
        return !(a[3] & MESSAGE_WITHOUT_WAIT) && is_socket(a[0]);
    case __NR_mq_timedreceive:
        return threaded || others_exist();
    case __NR_recvmsg:
        return !(a[2] & MESSAGE_WITHOUT_WAIT) && is_socket(a[0]);
    default:
        return false;
    }
}

/* A read waits here, since time may pass at once. Returns whether a signal has ended the wait. */
static bool read_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (!may_wait_for_input(number, a))
        return false;
    *result = wait_for_file((int)a[0], POLLIN);
    return *result == -EINTR;
}

/* ---------------------------------------------------------------- calls that wait in the kernel */

static int timer;                /* of the host, and of this process: */
static uint32_t timer_owner;
static bool expired;

static void set_timer(uint64_t nanoseconds) {
    uint64_t value[4] = {0, 0, nanoseconds / BILLION, nanoseconds % BILLION};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTRAP};      /* which the guest never blocks */
    uint32_t process = (uint32_t)KERNEL0(__NR_getpid);
    event.sigev_value.sival_ptr = &timer;
    if (timer_owner != process && KERNEL3(__NR_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_owner = process;
    KERNEL4(__NR_timer_settime, timer, 0, value, 0);
}

/* Whether a signal is of the host's timer, which interrupts a call. */
bool is_interruption(const siginfo_t *info) {
    bool is_own = info->si_signo == SIGTRAP && info->si_code == SI_TIMER && info->si_value.sival_ptr == &timer;
    expired = expired || is_own;
    return is_own;
}

/* Whether a signal has ended a call: also one that has written a part. */
static bool is_interrupted(int64_t number, const uint64_t *a, int64_t result) {
    return result == -EINTR || ((number == __NR_write || number == __NR_sendto) && result > 0 && (uint64_t)result < a[2]);
}

/* Let the kernel execute a call, at most until a timer of the guest expires. */
int64_t call_until_timer(int64_t number, const uint64_t *a) {
    uint64_t left;
    int64_t result;
    for (;;) {
        left = time_until(next_timer());
        expired = false;
        set_timer(left < SHORTEST_WAIT ? SHORTEST_WAIT : left);
        result = pass_on(number, a);
        set_timer(0);
        if (!expired || !is_interrupted(number, a, result))
            return result;
        pass_time(time_until(next_timer()));
        fire_timers();
        if (state->pending || result != -EINTR)
            return result;
    }
}

static int64_t attempt_process(const struct wait *it, uint64_t limit) {
    static siginfo_t room;
    siginfo_t *info = &room;
    int64_t result;
    if (limit)                   /* SIGCHLD may be ignored */
        rest_for(limit < BETWEEN_LOOKS ? limit : BETWEEN_LOOKS);
    if (it->number == __NR_wait4) {
        result = call(__NR_wait4, it->a[0], it->a[1], it->a[2] | WNOHANG, it->a[3], 0, 0);
        return result ? result : it->nothing;
    }
    if (it->a[2])
        info = (siginfo_t *)it->a[2];
    if (!is_writable((uint64_t)info, sizeof(*info)))
        return -EFAULT;
    info->si_pid = 0;
    result = call(__NR_waitid, it->a[0], it->a[1], (uint64_t)info, it->a[3] | WNOHANG, it->a[4], 0);
    return result || info->si_pid ? result : it->nothing;
}

/* While other threads run. */
static int64_t wait_among_others(int64_t number, const uint64_t *a) {
    const struct wait wait = {.attempt = attempt_process, .is_inside = without_children, .number = number, .a = a,
                              .nothing = -EAGAIN, .text = "for a child"};
    if ((number == __NR_wait4 ? a[2] : a[3]) & WNOHANG)
        return pass_on(number, a);
    return wait_until(&wait, NEVER);
}

static int64_t wait_anyhow(int64_t number, const uint64_t *a) {
    if (threaded || others_exist())
        return wait_among_others(number, a);
    return next_timer() == NEVER ? pass_on(number, a) : call_until_timer(number, a);
}

/* wait4 and waitid, with the host's numbers. The resources of children are not counted, and the host's would differ. */
int64_t wait_for_process(int64_t number, const uint64_t *a) {
    int64_t result = wait_anyhow(number, a);
    uint64_t usage = a[number == __NR_wait4 ? 3 : 4];
    if (!failed(result) && usage && !(world.flags & HOST_CLOCK) && is_writable(usage, USAGE_BYTES))
        memset((void *)usage, 0, USAGE_BYTES);
    return result;
}

bool endless_wait_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (world.flags & HOST_CLOCK && !threaded)
        return false;
    switch (number) {
    case __NR_pause:
        *result = wait_for_signal(NEVER);
        return true;
    case __NR_wait4: case __NR_waitid:       /* with the host's numbers: ids.c has the others */
        *result = wait_for_process(number, a);
        return true;
    default:
        return (threaded || others_exist() || next_timer() != NEVER) && read_call(number, a, result);
    }
}
