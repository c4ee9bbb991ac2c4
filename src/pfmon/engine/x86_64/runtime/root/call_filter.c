/* The filter of a confined process's system calls (seccomp(2)). Calls that it does not know do not exist (ENOSYS). Those with a path
   that Landlock does not hold get it as a constant of the runtime's alone (kernel_names.S), which nobody can change: the name of
   a descriptor, or no name. Descriptors come from openat2 below the root, and so none is of a file elsewhere. */

#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/errno.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#include "root.h"
#include "runtime.h"
#include "world/world.h"

enum {
    MOST_STEPS = 2048,
    UNIX_FAMILY = 1, INTERNET = 2, INTERNET_6 = 10, STREAM = 1, PACKETS = 5, TYPE = 0xF
};

static const uint32_t NEW_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID
    | CLONE_NEWNET;

/* Calls without a path, or with one that Landlock holds: what they make, move, join and remove. */
static const uint16_t allowed[] = {
    __NR_read, __NR_write, __NR_close, __NR_fstat, __NR_poll, __NR_lseek, __NR_mmap, __NR_mprotect, __NR_munmap, __NR_brk,
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_pread64, __NR_pwrite64, __NR_readv, __NR_writev, __NR_pipe,
    __NR_select, __NR_sched_yield, __NR_mremap, __NR_msync, __NR_mincore, __NR_madvise, __NR_dup, __NR_dup2, __NR_pause,
    __NR_nanosleep, __NR_getitimer, __NR_alarm, __NR_setitimer, __NR_getpid, __NR_sendfile, __NR_accept, __NR_sendmsg,
    __NR_recvfrom, __NR_recvmsg, __NR_shutdown, __NR_bind, __NR_listen, __NR_getsockname, __NR_getpeername, __NR_setsockopt,
    __NR_getsockopt, __NR_fork, __NR_vfork, __NR_exit, __NR_wait4, __NR_kill, __NR_uname, __NR_fcntl, __NR_flock, __NR_fsync,
    __NR_fdatasync, __NR_ftruncate, __NR_getdents, __NR_getcwd, __NR_fchdir, __NR_fchmod, __NR_fchown, __NR_umask,
    __NR_gettimeofday, __NR_getrlimit, __NR_getrusage, __NR_sysinfo, __NR_times, __NR_getuid, __NR_getgid, __NR_setuid,
    __NR_setgid, __NR_geteuid, __NR_getegid, __NR_setpgid, __NR_getppid, __NR_getpgrp, __NR_setsid, __NR_setreuid,
    __NR_setregid, __NR_getgroups, __NR_setgroups, __NR_setresuid, __NR_getresuid, __NR_setresgid, __NR_getresgid,
    __NR_getpgid, __NR_setfsuid, __NR_setfsgid, __NR_getsid, __NR_capget, __NR_capset, __NR_rt_sigpending,
    __NR_rt_sigtimedwait, __NR_rt_sigqueueinfo, __NR_rt_sigsuspend, __NR_sigaltstack, __NR_personality, __NR_fstatfs,
    __NR_getpriority, __NR_sched_getparam, 
    __NR_sched_getscheduler, __NR_sched_get_priority_max, __NR_sched_get_priority_min, __NR_sched_rr_get_interval, __NR_mlock,
    __NR_munlock, __NR_mlockall, __NR_munlockall, __NR_arch_prctl, __NR_setrlimit, __NR_sync, __NR_gettid, __NR_readahead,
    __NR_fsetxattr, __NR_fgetxattr, __NR_flistxattr, __NR_fremovexattr, __NR_tkill, __NR_time, __NR_futex,
    __NR_sched_getaffinity, __NR_io_setup, __NR_io_destroy, __NR_io_getevents, __NR_io_submit,
    __NR_io_cancel, __NR_epoll_create, __NR_getdents64, __NR_set_tid_address, __NR_restart_syscall, __NR_fadvise64,
    __NR_timer_create, __NR_timer_settime, __NR_timer_gettime, __NR_timer_getoverrun, __NR_timer_delete, __NR_clock_gettime,
    __NR_clock_getres, __NR_clock_nanosleep, __NR_exit_group, __NR_epoll_wait, __NR_epoll_ctl, __NR_tgkill, __NR_mbind,
    __NR_set_mempolicy, __NR_get_mempolicy, __NR_waitid, __NR_ioprio_get, __NR_inotify_init,
    __NR_inotify_rm_watch, __NR_mkdirat, __NR_mknodat, __NR_unlinkat, __NR_linkat, __NR_symlinkat, __NR_renameat2,
    __NR_pselect6, __NR_ppoll, __NR_set_robust_list, __NR_get_robust_list, __NR_splice, __NR_tee, __NR_sync_file_range,
    __NR_vmsplice, __NR_epoll_pwait, __NR_signalfd, __NR_timerfd_create, __NR_eventfd, __NR_fallocate, __NR_timerfd_settime,
    __NR_timerfd_gettime, __NR_accept4, __NR_signalfd4, __NR_eventfd2, __NR_epoll_create1, __NR_dup3, __NR_pipe2,
    __NR_inotify_init1, __NR_preadv, __NR_pwritev, __NR_rt_tgsigqueueinfo, __NR_recvmmsg, __NR_syncfs,
    __NR_sendmmsg, __NR_getcpu, __NR_sched_getattr,
    __NR_getrandom, __NR_memfd_create, __NR_membarrier, __NR_mlock2, __NR_copy_file_range, __NR_preadv2, __NR_pwritev2,
    __NR_pkey_mprotect, __NR_pkey_alloc, __NR_rseq, __NR_pidfd_send_signal, __NR_pidfd_open, __NR_close_range, __NR_process_madvise,
    __NR_epoll_pwait2, __NR_futex_waitv, 451 /* cachestat */, 454, 455, 456 /* futex_wake, futex_wait, futex_requeue */, 462 /* mseal */,
};

/* Calls that are allowed if an argument, a pointer, is in a table of names, or is NULL and may be. */
static const struct {
    uint16_t number;
    uint8_t argument;
    bool or_null;
    const char *first, *end;
} named[] = {
    {__NR_open, 0, false, descriptor_names, linked_names}, {__NR_readlink, 0, false, descriptor_names, other_names},
    {__NR_truncate, 0, false, descriptor_names, opened_names}, {__NR_setxattr, 0, false, descriptor_names, opened_names},
    {__NR_getxattr, 0, false, descriptor_names, opened_names}, {__NR_listxattr, 0, false, descriptor_names, opened_names},
    {__NR_removexattr, 0, false, descriptor_names, opened_names}, {__NR_inotify_add_watch, 1, false, descriptor_names, opened_names},
    {__NR_execve, 0, false, exe_name, no_name}, {__NR_newfstatat, 1, false, no_name, socket_address_names},
    {__NR_statx, 1, false, no_name, socket_address_names}, {__NR_faccessat2, 1, false, no_name, socket_address_names},
    {__NR_readlinkat, 1, false, no_name, socket_address_names}, {__NR_fchownat, 1, false, no_name, socket_address_names},
    {452 /* fchmodat2 */, 1, false, no_name, socket_address_names}, {__NR_utimensat, 1, true, no_name, socket_address_names},
    {__NR_openat2, 2, false, lookups, lookups_end},
};

/* Calls that change a process: itself alone, by the number 0 in this argument, and the first one saying that it is one. */
static const struct own_process {
    uint16_t number;
    uint8_t argument, kind;
} own_process[] = {
    {__NR_prlimit64, 0, 0}, {__NR_sched_setaffinity, 0, 0}, {__NR_sched_setparam, 0, 0}, {__NR_sched_setscheduler, 0, 0},
    {__NR_sched_setattr, 0, 0}, {__NR_setpriority, 1, 0 /* PRIO_PROCESS */}, {__NR_ioprio_set, 1, 1 /* IOPRIO_WHO_PROCESS */},
};

/* ---------------------------------------------------------------- steps of the filter */

static struct sock_filter steps[MOST_STEPS];
static uint32_t count;

static void put(uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
    if (count < MOST_STEPS)
        steps[count++] = (struct sock_filter){code, if_true, if_false, value};
}

/* Load half of an argument. */
static void load(uint8_t argument, bool high) {
    put(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offsetof(struct seccomp_data, args) + 8u * argument + (high ? 4 : 0));
}

static void load_number(void) {
    put(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
}

static void put_end(uint32_t action) {
    put(BPF_RET | BPF_K, 0, 0, action);
}

/* The following steps, up to end_case(), are for this call. */
static uint32_t begin_case(uint16_t number) {
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, number);
    return count - 1;
}

static void end_case(uint32_t at, uint32_t action) {
    put_end(action);
    steps[at].jf = (uint8_t)(count - at - 1);
}

static void allow_if_equal(uint32_t value) {
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    put_end(SECCOMP_RET_ALLOW);
}

static void refuse_if_equal(uint32_t value, uint32_t action) {
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    put_end(action);
}

/* Allow a pointer to the beginning of a name of a table. */
static void allow_name(uint8_t argument, const char *first, const char *end) {
    uint64_t at = (uint64_t)first;
    load(argument, true);
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, (uint32_t)(at >> 32));
    load(argument, false);
    put(BPF_ALU | BPF_SUB | BPF_K, 0, 0, (uint32_t)at);
    put(BPF_JMP | BPF_JGE | BPF_K, 3, 0, (uint32_t)(end - first));
    put(BPF_ALU | BPF_AND | BPF_K, 0, 0, NAME_BYTES - 1);
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    put_end(SECCOMP_RET_ALLOW);
}

static void allow_null(uint8_t argument) {
    load(argument, true);
    put(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
    load(argument, false);
    allow_if_equal(0);
}

/* ---------------------------------------------------------------- the calls */

static const uint32_t MISSING = SECCOMP_RET_ERRNO | ENOSYS, REFUSED = SECCOMP_RET_ERRNO | EPERM,
    NO_FAMILY = SECCOMP_RET_ERRNO | EAFNOSUPPORT;

/* Types of sockets that have connections. */
static void allow_connected_types(void) {
    load(1, false);
    put(BPF_ALU | BPF_AND | BPF_K, 0, 0, TYPE);
    allow_if_equal(STREAM);
    allow_if_equal(PACKETS);
}

/* Sockets of the UNIX family have connections, since the names of datagrams would be in memory. Without a network they connect to
   descriptors alone; with one, whose addresses are in memory, they come in pairs. */
static void put_sockets(bool with_network) {
    uint32_t at = begin_case(__NR_socketpair);
    allow_connected_types();
    end_case(at, NO_FAMILY);
    at = begin_case(__NR_socket);
    load(0, false);
    if (with_network) {
        allow_if_equal(INTERNET);
        allow_if_equal(INTERNET_6);
    } else {
        put(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, UNIX_FAMILY);
        allow_connected_types();
    }
    end_case(at, NO_FAMILY);
    at = begin_case(__NR_connect);
    if (!with_network)
        allow_name(1, socket_address_names, lookups);
    end_case(at, with_network ? SECCOMP_RET_ALLOW : REFUSED);
    at = begin_case(__NR_sendto);
    if (!with_network)
        allow_null(4);
    end_case(at, with_network ? SECCOMP_RET_ALLOW : REFUSED);
}

static void put_other_conditions(void) {
    uint32_t at = begin_case(__NR_clone);
    load(0, false);
    put(BPF_ALU | BPF_AND | BPF_K, 0, 0, NEW_NAMESPACES);
    allow_if_equal(0);
    end_case(at, REFUSED);
    at = begin_case(__NR_ioctl);
    load(1, false);
    refuse_if_equal(TIOCSTI, REFUSED);         /* they write into the terminal's input (ioctl_tty(2)) */
    refuse_if_equal(TIOCLINUX, REFUSED);
    end_case(at, SECCOMP_RET_ALLOW);
    at = begin_case(__NR_prctl);
    load(0, false);
    refuse_if_equal(PR_SET_SECCOMP, REFUSED);
    refuse_if_equal(PR_SET_MM, REFUSED);
    end_case(at, SECCOMP_RET_ALLOW);
}

static void put_calls(bool with_network) {
    uint32_t i, at;
    put(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
    put(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64);
    put_end(SECCOMP_RET_KILL_PROCESS);
    load_number();
    for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        allow_if_equal(allowed[i]);
    for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        at = begin_case(named[i].number);
        if (named[i].or_null)
            allow_null(named[i].argument);
        allow_name(named[i].argument, named[i].first, named[i].end);
        end_case(at, REFUSED);
    }
    for (i = 0; i < sizeof(own_process) / sizeof(own_process[0]); i++) {
        at = begin_case(own_process[i].number);
        if (own_process[i].argument) {
            load(0, false);
            put(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, own_process[i].kind);
        }
        load(own_process[i].argument, false);
        allow_if_equal(0);
        end_case(at, REFUSED);
    }
    put_sockets(with_network);
    put_other_conditions();
    put_end(MISSING);
}

/* Calls that change the guest's own process name it by 0. */
void name_own_process(int64_t number, uint64_t *a) {
    uint32_t i;
    for (i = 0; i < sizeof(own_process) / sizeof(own_process[0]); i++)
        if (own_process[i].number == number && (uint32_t)a[own_process[i].argument] == process_id())
            a[own_process[i].argument] = 0;
}

/* Install the filter, for this process and those that it makes. */
bool filter_calls(bool with_network) {
    struct sock_fprog program;
    put_calls(with_network);
    program = (struct sock_fprog){(unsigned short)count, steps};
    return count < MOST_STEPS && KERNEL3(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
