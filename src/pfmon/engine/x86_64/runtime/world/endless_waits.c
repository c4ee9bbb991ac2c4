/* Calls that wait without a time limit, while a timer of the guest is set, whose signal may end them. */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "waits.h"

enum {
    LOCK_WITHOUT_WAIT = 4,       /* flock(2): LOCK_NB */
    MESSAGE_WITHOUT_WAIT = 0x40  /* recv(2): MSG_DONTWAIT */
};

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

bool endless_wait_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (world.flags & HOST_CLOCK)
        return false;
    switch (number) {
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
