/* Which system calls have an effect outside of the process, or depend on what happens there once: a program without any
   can be executed again from its beginning by another engine (layout.h, `outside`). */

#include <asm/ioctls.h>
#include <asm/statfs.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/mman.h>
#include <linux/sched.h>

#include "runtime.h"
#include "waits/waits.h"
#include "world/world.h"

enum { STANDARD_FILES = 3 };

/* Calls without effect, whatever their arguments. */
static const uint16_t harmless[] = {
    __NR_access, __NR_alarm, __NR_arch_prctl, __NR_brk, __NR_capget, __NR_chdir, __NR_clock_getres, __NR_clock_gettime,
    __NR_clock_nanosleep, __NR_close, __NR_close_range, __NR_epoll_create1, __NR_eventfd2, __NR_exit, __NR_exit_group,
    __NR_faccessat, __NR_faccessat2, __NR_fadvise64, __NR_fchdir, __NR_fstat, __NR_fstatfs, __NR_getcpu, __NR_getcwd,
    __NR_getdents, __NR_getdents64, __NR_getegid, __NR_geteuid, __NR_getgid, __NR_getgroups, __NR_getitimer,
    __NR_getpgid, __NR_getpgrp, __NR_getpid, __NR_getppid, __NR_getrandom, __NR_getresgid, __NR_getresuid,
    __NR_getrlimit, __NR_getrusage, __NR_getsid, __NR_gettid, __NR_gettimeofday, __NR_getuid, __NR_lstat, __NR_madvise,
    __NR_membarrier, __NR_memfd_create, __NR_mincore, __NR_mprotect, __NR_mremap, __NR_munmap, __NR_nanosleep,
    __NR_newfstatat, __NR_pipe, __NR_pipe2, __NR_prctl, __NR_prlimit64, __NR_readlink, __NR_readlinkat, __NR_rseq,
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sched_getaffinity, __NR_sched_getparam,
    __NR_sched_getscheduler, __NR_sched_setaffinity, __NR_sched_yield, __NR_set_robust_list, __NR_set_tid_address,
    __NR_setitimer, __NR_setrlimit, __NR_sigaltstack, __NR_stat, __NR_statfs, __NR_statx, __NR_sysinfo, __NR_time,
    __NR_timer_create, __NR_timer_delete, __NR_timer_getoverrun, __NR_timer_gettime, __NR_timer_settime,
    __NR_timerfd_create, __NR_timerfd_gettime, __NR_timerfd_settime, __NR_times, __NR_umask, __NR_uname, __NR_clone3,
};

static bool is_harmless(int64_t number) {
    uint32_t i;
    for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (harmless[i] == number)
            return true;
    return false;
}

/* A pipe without a name, an event counter and the like: others reach it only by a child. */
static bool is_own_channel(uint64_t file) {
    struct statfs of;
    return file >= STANDARD_FILES && KERNEL2(__NR_fstatfs, file, &of) == 0
        && (of.f_type == PIPEFS_MAGIC || of.f_type == ANON_INODE_FS_MAGIC);
}

static bool only_reads(uint64_t flags) {
    return (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC));
}

static bool is_harmless_control(const uint64_t *a) {
    switch (a[1]) {
    case F_GETFD: case F_SETFD: case F_GETFL:
        return true;
    case F_SETFL: case F_DUPFD: case F_DUPFD_CLOEXEC:
        return a[0] >= STANDARD_FILES;
    default:
        return false;
    }
}

static bool has_effect(int64_t number, const uint64_t *a) {
    switch (number) {
    case __NR_open:
        return !only_reads(a[1]);
    case __NR_openat:
        return !only_reads(a[2]);
    case __NR_read: case __NR_pread64: case __NR_readv: case __NR_preadv:
        return !is_inside_descriptor((int)a[0]) && !is_random(a[0]);
    case __NR_write: case __NR_writev:
        return !is_own_channel(a[0]);
    case __NR_poll: case __NR_ppoll: case __NR_select: case __NR_pselect6: case __NR_epoll_wait: case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
        return !is_inside_wait(number, a);
    case __NR_pause: case __NR_rt_sigsuspend:
        return next_timer() == NEVER;
    case __NR_rt_sigtimedwait:
        return !a[2] && next_timer() == NEVER;
    case __NR_lseek: case __NR_dup: case __NR_dup2: case __NR_dup3:
        return a[0] < STANDARD_FILES;
    case __NR_fcntl:
        return !is_harmless_control(a);
    case __NR_ioctl:
        return a[1] != TCGETS && a[1] != TIOCGWINSZ && a[1] != FIOCLEX && a[1] != FIONCLEX;
    case __NR_mmap:
        return a[2] & PROT_WRITE && (a[3] & MAP_TYPE) != MAP_PRIVATE && !(a[3] & MAP_ANONYMOUS);
    case __NR_clone:             /* other than a thread */
        return !(a[0] & CLONE_VM) || a[0] & CLONE_VFORK;
    case __NR_futex:
        return false;
    case __NR_epoll_ctl:
        return a[2] < STANDARD_FILES;
    default:
        return !is_harmless(number);
    }
}

/* Before a system call. */
void note_effect(int64_t number, const uint64_t *a) {
    if (!area->outside && !in_child && has_effect(number, a))
        area->outside = 1;
}
