/* The numbers of processes that the guest sees (tasks/numbers.c), and that of its processor. */

#include <asm/ioctls.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/wait.h>

#include "runtime.h"
#include "tasks/schedule.h"
#include "waits/waits.h"
#include "world.h"

enum {
    PARENT_ID = 999, ORPHANS_PARENT = 1,
    SOCKET_LEVEL = 1, PEER = 17,             /* unix(7) */
    LOCK_OWNER_AT = 24                       /* in struct flock */
};

static bool of_host(void) {
    return world.flags & HOST_IDS;
}

/* A number of the host, of a process, a group or a session, as the guest sees it; errors and 0 are themselves. */
int64_t seen_process(int64_t number) {
    return of_host() ? number : number_of_host(number);
}

uint32_t process_id(void) {
    return (uint32_t)seen_process(KERNEL0(__NR_getpid));
}

static bool is_first(void) {
    return (uint32_t)KERNEL0(__NR_getpid) == schedule->first;
}

/* The number of the parent of a process; both are the host's. */
uint32_t seen_parent(uint32_t process, uint32_t parent) {
    if (of_host() || parent != schedule->reaper)
        return (uint32_t)seen_process(parent);
    return process == schedule->first ? PARENT_ID : ORPHANS_PARENT;
}

uint32_t parent_id(void) {
    return seen_parent((uint32_t)KERNEL0(__NR_getpid), (uint32_t)KERNEL0(__NR_getppid));
}

/* Of a group or a session: 0 is one that began outside of the PID namespace (pid_namespaces(7)), which is the first process's. */
int64_t seen_group(int64_t number) {
    return number == 0 && !of_host() ? FIRST_NUMBER : seen_process(number);
}

uint32_t process_group(void) {
    return (uint32_t)seen_group(KERNEL1(__NR_getpgid, 0));
}

uint32_t process_session(void) {
    return (uint32_t)seen_group(KERNEL1(__NR_getsid, 0));
}

int64_t write_number(uint64_t to, uint32_t number) {
    if (!is_writable(to, sizeof(number)))
        return -EFAULT;
    memcpy((void *)to, &number, sizeof(number));
    return 0;
}

/* A signal's sender, as the guest sees it: numbers of kill(2), and those of SIGCHLD. */
void show_sender(siginfo_t *info) {
    if (of_host() || (info->si_signo != SIGCHLD && info->si_code != SI_USER && info->si_code != SI_QUEUE
                      && info->si_code != SI_TKILL && info->si_code != SI_MESGQ))
        return;
    info->si_pid = (int)seen_process(info->si_pid);
    info->si_uid = seen_user(info->si_uid);
}

/* ---------------------------------------------------------------- processes */

/* A call with one or two numbers of processes. */
static int64_t pass_process(int64_t number, const uint64_t *a, uint64_t first, uint64_t second) {
    const uint64_t own[6] = {first, second, a[2], a[3], a[4], a[5]};
    return pass_on(number, own);
}

/* The host's group of the first process becomes its own then. */
static int64_t set_group(const uint64_t *a) {
    int64_t result = pass_process(__NR_setpgid, a, host_of_number(a[0]), host_of_group(a[1]));
    schedule->group = (uint32_t)KERNEL1(__NR_getpgid, schedule->first);
    return result;
}

/* A child may have been waited for. */
static void note_child(int64_t host) {
    if (host > 0 && KERNEL2(__NR_kill, host, 0) == -ESRCH)
        reaped((uint32_t)host);
}

static int64_t wait_for_child(int64_t number, const uint64_t *a) {
    int64_t result;
    siginfo_t *info = (siginfo_t *)a[2];
    if (number == __NR_wait4) {
        result = wait_for_process(number, (const uint64_t[6]){host_of_process_or_group(a[0]), a[1], a[2], a[3]});
        note_child(result);
        return seen_process(result);
    }
    result = wait_for_process(number, (const uint64_t[6]){a[0], a[0] == P_PGID ? host_of_group(a[1]) : a[0] == P_PID ? host_of_number(a[1]) : a[1],
                                                          a[2], a[3], a[4]});
    if (result == 0 && info) {
        note_child(info->si_pid);
        show_sender(info);
    }
    return result;
}

/* The owner of a descriptor's signals, of a lock; the process at the other end of a socket. */
static bool owner_of_file_call(int64_t number, const uint64_t *a, int64_t *result) {
    const struct { int type, process; } *given = (const void *)a[2];
    struct { int type, process; } own;
    if (number == __NR_getsockopt && a[1] == SOCKET_LEVEL && a[2] == PEER) {
        *result = pass_on(number, a);
        if (*result == 0)
            *(uint32_t *)a[3] = (uint32_t)seen_process(*(int32_t *)a[3]);
        return true;
    }
    if (number != __NR_fcntl)
        return false;
    switch (a[1]) {
    case F_SETOWN:
        *result = pass_on(number, (const uint64_t[6]){a[0], a[1], host_of_process_or_group(a[2])});
        return true;
    case F_GETOWN:
        *result = pass_on(number, a);
        *result = *result < -(int64_t)LARGEST_ERROR ? -seen_process(-*result) : seen_process(*result);
        return true;
    case F_SETOWN_EX:
        if (!are_readable(a[2], sizeof(own)))
            return false;
        own.type = given->type;
        own.process = (int)(own.type == F_OWNER_PGRP ? host_of_group((uint32_t)given->process) : host_of_number((uint32_t)given->process));
        *result = pass_on(number, (const uint64_t[6]){a[0], a[1], (uint64_t)&own});
        return true;
    case F_GETLK:
        *result = pass_on(number, a);
        if (*result == 0)
            *(int32_t *)(a[2] + LOCK_OWNER_AT) = (int32_t)seen_process(*(int32_t *)(a[2] + LOCK_OWNER_AT));
        return true;
    default:
        return false;
    }
}

/* The foreground group of a terminal, and its session. */
static bool terminal_call(const uint64_t *a, int64_t *result) {
    uint64_t group;
    if (a[1] == TIOCGPGRP || a[1] == TIOCGSID) {
        *result = pass_on(__NR_ioctl, a);
        if (*result == 0)
            *(uint32_t *)a[2] = (uint32_t)seen_group(*(int32_t *)a[2]);
        return true;
    }
    if (a[1] != TIOCSPGRP || !are_readable(a[2], 4))
        return false;
    group = host_of_group(*(uint32_t *)a[2]);
    *result = pass_process(__NR_ioctl, (const uint64_t[6]){a[0], a[1], (uint64_t)&group}, a[0], a[1]);
    return true;
}

static bool process_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_getpid: case __NR_gettid:
        *result = process_id();
        return true;
    case __NR_set_tid_address:
        KERNEL1(number, a[0]);
        *result = process_id();
        return true;
    case __NR_getppid:
        *result = parent_id();
        return true;
    case __NR_getpgrp:
        *result = process_group();
        return true;
    case __NR_getpgid: case __NR_getsid:
        *result = seen_group(pass_process(number, a, host_of_number(a[0]), 0));
        return true;
    case __NR_setsid:
        *result = is_first() ? -EPERM /* it leads a group */ : seen_process(pass_on(number, a));
        return true;
    case __NR_setpgid:
        *result = set_group(a);
        return true;
    case __NR_wait4: case __NR_waitid:
        *result = wait_for_child(number, a);
        return true;
    case __NR_getpriority: case __NR_setpriority:
        *result = pass_process(number, a, a[0], a[0] == 0 ? host_of_number(a[1]) : a[0] == 1 ? host_of_group(a[1]) : a[1]);
        return true;
    case __NR_prlimit64: case __NR_sched_getparam: case __NR_sched_setparam:
    case __NR_sched_getscheduler: case __NR_sched_setscheduler: case __NR_sched_getattr: case __NR_pidfd_open:
        *result = pass_process(number, a, host_of_number(a[0]), a[1]);
        return true;
    case __NR_ioctl:
        return terminal_call(a, result);
    default:
        return owner_of_file_call(number, a, result);
    }
}

/* ---------------------------------------------------------------- the processor */

static int64_t get_affinity(int32_t process, uint64_t bytes, uint64_t to) {
    if (bytes < 8 || bytes % 8)
        return -EINVAL;
    if (process < 0)
        return -ESRCH;
    if (!is_writable(to, 8))
        return -EFAULT;
    *(uint64_t *)to = 1;
    return 8;
}

static int64_t set_affinity(int32_t process, uint64_t bytes, uint64_t from) {
    if (bytes && !is_readable(from))
        return -EFAULT;
    if (process < 0)
        return -ESRCH;
    return bytes && *(const uint8_t *)from & 1 ? 0 : -EINVAL;
}

static bool processor_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_sched_getaffinity:
        *result = get_affinity((int32_t)a[0], a[1], a[2]);
        return true;
    case __NR_sched_setaffinity:
        *result = set_affinity((int32_t)a[0], a[1], a[2]);
        return true;
    case __NR_getcpu:
        *result = (a[0] && write_number(a[0], 0)) || (a[1] && write_number(a[1], 0)) ? -EFAULT : 0;
        return true;
    default:
        return false;
    }
}

bool id_call(int64_t number, const uint64_t *a, int64_t *result) {
    if (status_call(number, a, result))
        return true;
    if (of_host())
        return false;
    return process_call(number, a, result) || user_call(number, a, result) || processor_call(number, a, result);
}
