/* What the kernel accesses through the arguments of system calls (syscalls(2)): none of it is the runtime's. A call that is not
   in the table is one that guests have not. */

#include <asm/unistd.h>
#include <linux/aio_abi.h>
#include <linux/errno.h>
#include <linux/eventpoll.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/ipc.h>
#include <linux/sched.h>
#include <linux/sem.h>
#include <linux/sockios.h>
#include <linux/uio.h>

#include "runtime.h"

enum access {
    NO_POINTER,
    READ, WRITTEN, READ_AND_WRITTEN,
    OF_BITS,                     /* the count is one of bits (select(2)) */
    TO_TEXT,                     /* read up to its end */
    TO_TEXTS,                    /* pointers to texts, up to NULL */
    WITH_LENGTH,                 /* written; the count is a pointer to a number of bytes */
    TO_VECTORS_READ, TO_VECTORS_WRITTEN,     /* struct iovec: what it points to */
    TO_MESSAGE, TO_MESSAGES,     /* struct msghdr, mmsghdr */
    TO_REQUESTS,                 /* pointers to struct iocb */
    TO_ANYTHING                  /* other arguments say what, and whether it is a pointer */
};

enum { NO_COUNT = 7, OF_INT = 8 /* the count has 32 bits */, MAX_POINTERS = 5, MAX_NUMBER = 512, MAX_VECTORS = 1024 };

struct call_pointer {
    uint8_t access, argument;
    uint8_t count;               /* the argument that has the number of items */
    uint16_t bytes;              /* of an item */
};

#define FIXED(bytes) NO_COUNT, bytes
#define COUNT(argument, bytes) argument, bytes
#define INT(argument, bytes) argument | OF_INT, bytes
#define IN(argument, ...) {READ, argument, __VA_ARGS__}
#define OUT(argument, ...) {WRITTEN, argument, __VA_ARGS__}
#define BOTH(argument, ...) {READ_AND_WRITTEN, argument, __VA_ARGS__}
#define BITS(argument) {OF_BITS, argument, INT(0, 1)}
#define TEXT(argument) {TO_TEXT, argument, FIXED(1)}
#define TEXTS(argument) {TO_TEXTS, argument, FIXED(8)}
#define OF_LENGTH(argument, at) {WITH_LENGTH, argument, at, 1}
#define VECTORS_IN(argument, count) {TO_VECTORS_READ, argument, count, sizeof(struct iovec)}
#define VECTORS_OUT(argument, count) {TO_VECTORS_WRITTEN, argument, count, sizeof(struct iovec)}
#define MESSAGE(argument) {TO_MESSAGE, argument, FIXED(sizeof(struct message))}
#define MESSAGES(argument, count) {TO_MESSAGES, argument, INT(count, sizeof(struct messages))}
#define REQUESTS(argument, count) {TO_REQUESTS, argument, count, sizeof(uint64_t)}
#define NONE {{NO_POINTER, 0, FIXED(0)}}
#define UNKNOWN(argument) {TO_ANYTHING, argument, FIXED(PAGE)}

struct message {                 /* msghdr (sendmsg(2)) */
    uint64_t name;
    uint32_t name_bytes;
    uint64_t vectors, count, control, control_bytes;
    uint32_t flags;
};

struct messages {                /* mmsghdr (recvmmsg(2)) */
    struct message message;
    uint32_t bytes;
};

static const struct call {
    uint16_t number;
    struct call_pointer pointers[MAX_POINTERS];
} calls[] = {
    {__NR_read, {OUT(1, COUNT(2, 1))}}, {__NR_write, {IN(1, COUNT(2, 1))}}, {__NR_open, {TEXT(0)}}, {__NR_close, NONE},
    {__NR_stat, {TEXT(0), OUT(1, FIXED(144))}}, {__NR_fstat, {OUT(1, FIXED(144))}}, {__NR_lstat, {TEXT(0), OUT(1, FIXED(144))}},
    {__NR_poll, {BOTH(0, INT(1, 8))}}, {__NR_lseek, NONE}, {__NR_mmap, NONE}, {__NR_mprotect, NONE}, {__NR_munmap, NONE},
    {__NR_brk, NONE}, {__NR_rt_sigaction, {IN(1, FIXED(32)), OUT(2, FIXED(32))}},
    {__NR_rt_sigprocmask, {IN(1, COUNT(3, 1)), OUT(2, COUNT(3, 1))}}, {__NR_rt_sigreturn, NONE}, {__NR_ioctl, {UNKNOWN(2)}},
    {__NR_pread64, {OUT(1, COUNT(2, 1))}}, {__NR_pwrite64, {IN(1, COUNT(2, 1))}}, {__NR_readv, {VECTORS_OUT(1, 2)}},
    {__NR_writev, {VECTORS_IN(1, 2)}}, {__NR_access, {TEXT(0)}}, {__NR_pipe, {OUT(0, FIXED(8))}},
    {__NR_select, {BITS(1), BITS(2), BITS(3), BOTH(4, FIXED(16))}}, {__NR_sched_yield, NONE}, {__NR_mremap, NONE},
    {__NR_msync, NONE}, {__NR_mincore, {OUT(2, FIXED(256))}}, {__NR_madvise, NONE}, {__NR_shmget, NONE}, {__NR_shmat, NONE},
    {__NR_shmctl, {BOTH(2, FIXED(112))}}, {__NR_dup, NONE}, {__NR_dup2, NONE}, {__NR_pause, NONE},
    {__NR_nanosleep, {IN(0, FIXED(16)), OUT(1, FIXED(16))}}, {__NR_getitimer, {OUT(1, FIXED(32))}}, {__NR_alarm, NONE},
    {__NR_setitimer, {IN(1, FIXED(32)), OUT(2, FIXED(32))}}, {__NR_getpid, NONE}, {__NR_sendfile, {BOTH(2, FIXED(8))}},
    {__NR_socket, NONE}, {__NR_connect, {IN(1, INT(2, 1))}}, {__NR_accept, {OF_LENGTH(1, 2), BOTH(2, FIXED(4))}},
    {__NR_sendto, {IN(1, COUNT(2, 1)), IN(4, INT(5, 1))}},
    {__NR_recvfrom, {OUT(1, COUNT(2, 1)), OF_LENGTH(4, 5), BOTH(5, FIXED(4))}}, {__NR_sendmsg, {MESSAGE(1)}},
    {__NR_recvmsg, {MESSAGE(1)}}, {__NR_shutdown, NONE}, {__NR_bind, {IN(1, INT(2, 1))}}, {__NR_listen, NONE},
    {__NR_getsockname, {OF_LENGTH(1, 2), BOTH(2, FIXED(4))}}, {__NR_getpeername, {OF_LENGTH(1, 2), BOTH(2, FIXED(4))}},
    {__NR_socketpair, {OUT(3, FIXED(8))}}, {__NR_setsockopt, {IN(3, INT(4, 1))}},
    {__NR_getsockopt, {OF_LENGTH(3, 4), BOTH(4, FIXED(4))}}, {__NR_clone, {OUT(2, FIXED(4)), OUT(3, FIXED(4))}},
    {__NR_fork, NONE}, {__NR_vfork, NONE}, {__NR_execve, {TEXT(0), TEXTS(1), TEXTS(2)}}, {__NR_exit, NONE},
    {__NR_wait4, {OUT(1, FIXED(4)), OUT(3, FIXED(144))}}, {__NR_kill, NONE}, {__NR_uname, {OUT(0, FIXED(390))}},
    {__NR_semget, NONE}, {__NR_semop, {IN(1, INT(2, 6))}}, {__NR_semctl, {UNKNOWN(3)}}, {__NR_shmdt, NONE}, {__NR_msgget, NONE},
    {__NR_msgsnd, {IN(1, COUNT(2, 1))}}, {__NR_msgrcv, {OUT(1, COUNT(2, 1))}}, {__NR_msgctl, {BOTH(2, FIXED(120))}},
    {__NR_fcntl, {BOTH(2, FIXED(32))}}, {__NR_flock, NONE}, {__NR_fsync, NONE}, {__NR_fdatasync, NONE},
    {__NR_truncate, {TEXT(0)}}, {__NR_ftruncate, NONE}, {__NR_getdents, {OUT(1, INT(2, 1))}},
    {__NR_getcwd, {OUT(0, COUNT(1, 1))}}, {__NR_chdir, {TEXT(0)}}, {__NR_fchdir, NONE}, {__NR_rename, {TEXT(0), TEXT(1)}},
    {__NR_mkdir, {TEXT(0)}}, {__NR_rmdir, {TEXT(0)}}, {__NR_creat, {TEXT(0)}}, {__NR_link, {TEXT(0), TEXT(1)}},
    {__NR_unlink, {TEXT(0)}}, {__NR_symlink, {TEXT(0), TEXT(1)}}, {__NR_readlink, {TEXT(0), OUT(1, INT(2, 1))}},
    {__NR_chmod, {TEXT(0)}}, {__NR_fchmod, NONE}, {__NR_chown, {TEXT(0)}}, {__NR_fchown, NONE}, {__NR_lchown, {TEXT(0)}},
    {__NR_umask, NONE}, {__NR_gettimeofday, {OUT(0, FIXED(16)), OUT(1, FIXED(8))}}, {__NR_getrlimit, {OUT(1, FIXED(16))}},
    {__NR_getrusage, {OUT(1, FIXED(144))}}, {__NR_sysinfo, {OUT(0, FIXED(112))}}, {__NR_times, {OUT(0, FIXED(32))}},
    {__NR_ptrace, NONE}, {__NR_getuid, NONE}, {__NR_syslog, {OUT(1, INT(2, 1))}}, {__NR_getgid, NONE}, {__NR_setuid, NONE},
    {__NR_setgid, NONE}, {__NR_geteuid, NONE}, {__NR_getegid, NONE}, {__NR_setpgid, NONE}, {__NR_getppid, NONE},
    {__NR_getpgrp, NONE}, {__NR_setsid, NONE}, {__NR_setreuid, NONE}, {__NR_setregid, NONE},
    {__NR_getgroups, {OUT(1, INT(0, 4))}}, {__NR_setgroups, {IN(1, INT(0, 4))}}, {__NR_setresuid, NONE},
    {__NR_getresuid, {OUT(0, FIXED(4)), OUT(1, FIXED(4)), OUT(2, FIXED(4))}}, {__NR_setresgid, NONE},
    {__NR_getresgid, {OUT(0, FIXED(4)), OUT(1, FIXED(4)), OUT(2, FIXED(4))}}, {__NR_getpgid, NONE}, {__NR_setfsuid, NONE},
    {__NR_setfsgid, NONE}, {__NR_getsid, NONE}, {__NR_capget, {BOTH(0, FIXED(8)), OUT(1, FIXED(24))}},
    {__NR_capset, {BOTH(0, FIXED(8)), IN(1, FIXED(24))}}, {__NR_rt_sigpending, {OUT(0, COUNT(1, 1))}},
    {__NR_rt_sigtimedwait, {IN(0, COUNT(3, 1)), OUT(1, FIXED(128)), IN(2, FIXED(16))}},
    {__NR_rt_sigqueueinfo, {IN(2, FIXED(128))}}, {__NR_rt_sigsuspend, {IN(0, COUNT(1, 1))}},
    {__NR_sigaltstack, {IN(0, FIXED(24)), OUT(1, FIXED(24))}}, {__NR_utime, {TEXT(0), IN(1, FIXED(16))}},
    {__NR_mknod, {TEXT(0)}}, {__NR_personality, NONE}, {__NR_ustat, {OUT(1, FIXED(32))}},
    {__NR_statfs, {TEXT(0), OUT(1, FIXED(120))}}, {__NR_fstatfs, {OUT(1, FIXED(120))}}, {__NR_sysfs, {UNKNOWN(1), UNKNOWN(2)}},
    {__NR_getpriority, NONE}, {__NR_setpriority, NONE}, {__NR_sched_setparam, {IN(1, FIXED(4))}},
    {__NR_sched_getparam, {OUT(1, FIXED(4))}}, {__NR_sched_setscheduler, {IN(2, FIXED(4))}}, {__NR_sched_getscheduler, NONE},
    {__NR_sched_get_priority_max, NONE}, {__NR_sched_get_priority_min, NONE}, {__NR_sched_rr_get_interval, {OUT(1, FIXED(16))}},
    {__NR_mlock, NONE}, {__NR_munlock, NONE}, {__NR_mlockall, NONE}, {__NR_munlockall, NONE}, {__NR_vhangup, NONE},
    {__NR_pivot_root, {TEXT(0), TEXT(1)}}, {__NR_prctl, {UNKNOWN(1), UNKNOWN(2), UNKNOWN(3), UNKNOWN(4)}},
    {__NR_arch_prctl, {UNKNOWN(1)}}, {__NR_adjtimex, {BOTH(0, FIXED(208))}}, {__NR_setrlimit, {IN(1, FIXED(16))}},
    {__NR_chroot, {TEXT(0)}}, {__NR_sync, NONE}, {__NR_acct, {TEXT(0)}},
    {__NR_settimeofday, {IN(0, FIXED(16)), IN(1, FIXED(8))}}, {__NR_mount, {TEXT(0), TEXT(1), TEXT(2), UNKNOWN(4)}},
    {__NR_umount2, {TEXT(0)}}, {__NR_swapon, {TEXT(0)}}, {__NR_swapoff, {TEXT(0)}}, {__NR_reboot, {TEXT(3)}},
    {__NR_sethostname, {IN(0, INT(1, 1))}}, {__NR_setdomainname, {IN(0, INT(1, 1))}}, {__NR_quotactl, {TEXT(1), UNKNOWN(3)}},
    {__NR_gettid, NONE}, {__NR_readahead, NONE}, {__NR_setxattr, {TEXT(0), TEXT(1), IN(2, COUNT(3, 1))}},
    {__NR_lsetxattr, {TEXT(0), TEXT(1), IN(2, COUNT(3, 1))}}, {__NR_fsetxattr, {TEXT(1), IN(2, COUNT(3, 1))}},
    {__NR_getxattr, {TEXT(0), TEXT(1), OUT(2, COUNT(3, 1))}}, {__NR_lgetxattr, {TEXT(0), TEXT(1), OUT(2, COUNT(3, 1))}},
    {__NR_fgetxattr, {TEXT(1), OUT(2, COUNT(3, 1))}}, {__NR_listxattr, {TEXT(0), OUT(1, COUNT(2, 1))}},
    {__NR_llistxattr, {TEXT(0), OUT(1, COUNT(2, 1))}}, {__NR_flistxattr, {OUT(1, COUNT(2, 1))}},
    {__NR_removexattr, {TEXT(0), TEXT(1)}}, {__NR_lremovexattr, {TEXT(0), TEXT(1)}}, {__NR_fremovexattr, {TEXT(1)}},
    {__NR_tkill, NONE}, {__NR_time, {OUT(0, FIXED(8))}}, {__NR_futex, {BOTH(0, FIXED(4)), IN(3, FIXED(16)), BOTH(4, FIXED(4))}},
    {__NR_sched_setaffinity, {IN(2, INT(1, 1))}}, {__NR_sched_getaffinity, {OUT(2, INT(1, 1))}},
    {__NR_io_setup, {OUT(1, FIXED(8))}}, {__NR_io_destroy, NONE}, {__NR_io_getevents, {OUT(3, COUNT(2, 32)), IN(4, FIXED(16))}},
    {__NR_io_submit, {REQUESTS(2, 1)}}, {__NR_io_cancel, {IN(1, FIXED(64)), OUT(2, FIXED(32))}}, {__NR_epoll_create, NONE},
    {__NR_getdents64, {OUT(1, INT(2, 1))}}, {__NR_set_tid_address, {OUT(0, FIXED(4))}}, {__NR_restart_syscall, NONE},
    {__NR_semtimedop, {IN(1, INT(2, 6)), IN(3, FIXED(16))}}, {__NR_fadvise64, NONE},
    {__NR_timer_create, {IN(1, FIXED(64)), OUT(2, FIXED(4))}}, {__NR_timer_settime, {IN(2, FIXED(32)), OUT(3, FIXED(32))}},
    {__NR_timer_gettime, {OUT(1, FIXED(32))}}, {__NR_timer_getoverrun, NONE}, {__NR_timer_delete, NONE},
    {__NR_clock_settime, {IN(1, FIXED(16))}}, {__NR_clock_gettime, {OUT(1, FIXED(16))}},
    {__NR_clock_getres, {OUT(1, FIXED(16))}}, {__NR_clock_nanosleep, {IN(2, FIXED(16)), OUT(3, FIXED(16))}},
    {__NR_exit_group, NONE}, {__NR_epoll_wait, {OUT(1, INT(2, 12))}}, {__NR_epoll_ctl, {IN(3, FIXED(12))}}, {__NR_tgkill, NONE},
    {__NR_utimes, {TEXT(0), IN(1, FIXED(32))}}, {__NR_mbind, {IN(3, FIXED(8))}}, {__NR_set_mempolicy, {IN(1, FIXED(8))}},
    {__NR_get_mempolicy, {OUT(0, FIXED(4)), OUT(1, FIXED(128))}}, {__NR_mq_open, {TEXT(0), IN(3, FIXED(64))}},
    {__NR_mq_unlink, {TEXT(0)}}, {__NR_mq_timedsend, {IN(1, COUNT(2, 1)), IN(4, FIXED(16))}},
    {__NR_mq_timedreceive, {OUT(1, COUNT(2, 1)), OUT(3, FIXED(4)), IN(4, FIXED(16))}}, {__NR_mq_notify, {IN(1, FIXED(64))}},
    {__NR_mq_getsetattr, {IN(1, FIXED(64)), OUT(2, FIXED(64))}}, {__NR_waitid, {OUT(2, FIXED(128)), OUT(4, FIXED(144))}},
    {__NR_add_key, {TEXT(0), TEXT(1), IN(2, COUNT(3, 1))}}, {__NR_request_key, {TEXT(0), TEXT(1), TEXT(2)}},
    {__NR_keyctl, {UNKNOWN(1), UNKNOWN(2), UNKNOWN(3), UNKNOWN(4)}}, {__NR_ioprio_set, NONE}, {__NR_ioprio_get, NONE},
    {__NR_inotify_init, NONE}, {__NR_inotify_add_watch, {TEXT(1)}}, {__NR_inotify_rm_watch, NONE},
    {__NR_migrate_pages, {IN(2, FIXED(128)), IN(3, FIXED(128))}}, {__NR_openat, {TEXT(1)}}, {__NR_mkdirat, {TEXT(1)}},
    {__NR_mknodat, {TEXT(1)}}, {__NR_fchownat, {TEXT(1)}}, {__NR_futimesat, {TEXT(1), IN(2, FIXED(32))}},
    {__NR_newfstatat, {TEXT(1), OUT(2, FIXED(144))}}, {__NR_unlinkat, {TEXT(1)}}, {__NR_renameat, {TEXT(1), TEXT(3)}},
    {__NR_linkat, {TEXT(1), TEXT(3)}}, {__NR_symlinkat, {TEXT(0), TEXT(2)}}, {__NR_readlinkat, {TEXT(1), OUT(2, INT(3, 1))}},
    {__NR_fchmodat, {TEXT(1)}}, {__NR_faccessat, {TEXT(1)}},
    {__NR_pselect6, {BITS(1), BITS(2), BITS(3), BOTH(4, FIXED(16)), IN(5, FIXED(16))}},
    {__NR_ppoll, {BOTH(0, INT(1, 8)), BOTH(2, FIXED(16)), IN(3, COUNT(4, 1))}}, {__NR_unshare, NONE},
    {__NR_set_robust_list, {IN(0, FIXED(24))}}, {__NR_get_robust_list, {OUT(1, FIXED(8)), OUT(2, FIXED(8))}},
    {__NR_splice, {BOTH(1, FIXED(8)), BOTH(3, FIXED(8))}}, {__NR_tee, NONE}, {__NR_sync_file_range, NONE},
    {__NR_vmsplice, {VECTORS_OUT(1, 2)}}, {__NR_move_pages, {IN(2, COUNT(1, 8)), IN(3, COUNT(1, 4)), OUT(4, COUNT(1, 4))}},
    {__NR_utimensat, {TEXT(1), IN(2, FIXED(32))}}, {__NR_epoll_pwait, {OUT(1, INT(2, 12)), IN(4, COUNT(5, 1))}},
    {__NR_signalfd, {IN(1, COUNT(2, 1))}}, {__NR_timerfd_create, NONE}, {__NR_eventfd, NONE}, {__NR_fallocate, NONE},
    {__NR_timerfd_settime, {IN(2, FIXED(32)), OUT(3, FIXED(32))}}, {__NR_timerfd_gettime, {OUT(1, FIXED(32))}},
    {__NR_accept4, {OF_LENGTH(1, 2), BOTH(2, FIXED(4))}}, {__NR_signalfd4, {IN(1, COUNT(2, 1))}}, {__NR_eventfd2, NONE},
    {__NR_epoll_create1, NONE}, {__NR_dup3, NONE}, {__NR_pipe2, {OUT(0, FIXED(8))}}, {__NR_inotify_init1, NONE},
    {__NR_preadv, {VECTORS_OUT(1, 2)}}, {__NR_pwritev, {VECTORS_IN(1, 2)}}, {__NR_rt_tgsigqueueinfo, {IN(3, FIXED(128))}},
    {__NR_perf_event_open, {IN(0, FIXED(128))}}, {__NR_recvmmsg, {MESSAGES(1, 2), BOTH(4, FIXED(16))}},
    {__NR_fanotify_init, NONE}, {__NR_fanotify_mark, {TEXT(4)}}, {__NR_prlimit64, {IN(2, FIXED(16)), OUT(3, FIXED(16))}},
    {__NR_name_to_handle_at, {TEXT(1), BOTH(2, FIXED(136)), OUT(3, FIXED(4))}}, {__NR_open_by_handle_at, {IN(1, FIXED(136))}},
    {__NR_clock_adjtime, {BOTH(1, FIXED(208))}}, {__NR_syncfs, NONE}, {__NR_sendmmsg, {MESSAGES(1, 2)}}, {__NR_setns, NONE},
    {__NR_getcpu, {OUT(0, FIXED(4)), OUT(1, FIXED(4))}}, {__NR_process_vm_readv, NONE}, {__NR_process_vm_writev, NONE},
    {__NR_kcmp, NONE}, {__NR_sched_setattr, {IN(1, FIXED(48))}}, {__NR_sched_getattr, {OUT(1, INT(2, 1))}},
    {__NR_renameat2, {TEXT(1), TEXT(3)}}, {__NR_seccomp, {IN(2, FIXED(16))}}, {__NR_getrandom, {OUT(0, COUNT(1, 1))}},
    {__NR_memfd_create, {TEXT(0)}}, {__NR_bpf, {BOTH(1, INT(2, 1))}}, {__NR_execveat, {TEXT(1), TEXTS(2), TEXTS(3)}},
    {__NR_membarrier, NONE}, {__NR_mlock2, NONE}, {__NR_copy_file_range, {BOTH(1, FIXED(8)), BOTH(3, FIXED(8))}},
    {__NR_preadv2, {VECTORS_OUT(1, 2)}}, {__NR_pwritev2, {VECTORS_IN(1, 2)}}, {__NR_pkey_mprotect, NONE},
    {__NR_pkey_alloc, NONE}, {__NR_pkey_free, NONE}, {__NR_statx, {TEXT(1), OUT(4, FIXED(256))}},
    {__NR_io_pgetevents, {OUT(3, COUNT(2, 32)), IN(4, FIXED(16)), IN(5, FIXED(16))}}, {__NR_rseq, {BOTH(0, FIXED(32))}},
    {__NR_pidfd_send_signal, {IN(2, FIXED(128))}}, {__NR_open_tree, {TEXT(1)}}, {__NR_move_mount, {TEXT(1), TEXT(3)}},
    {__NR_fsopen, {TEXT(0)}}, {__NR_fsconfig, {TEXT(2), TEXT(3)}}, {__NR_fsmount, NONE}, {__NR_fspick, {TEXT(1)}},
    {__NR_pidfd_open, NONE}, {__NR_pidfd_getfd, NONE}, {__NR_clone3, {BOTH(0, COUNT(1, 1))}}, {__NR_close_range, NONE},
    {__NR_openat2, {TEXT(1), IN(2, COUNT(3, 1))}}, {__NR_faccessat2, {TEXT(1)}}, {__NR_process_madvise, {VECTORS_IN(1, 2)}},
    {__NR_epoll_pwait2, {OUT(1, INT(2, 12)), IN(3, FIXED(16)), IN(4, COUNT(5, 1))}},
    {__NR_mount_setattr, {TEXT(1), IN(3, COUNT(4, 1))}}, {__NR_quotactl_fd, {UNKNOWN(3)}},
    {__NR_landlock_create_ruleset, {IN(0, COUNT(1, 1))}}, {__NR_landlock_add_rule, {IN(2, FIXED(16))}},
    {__NR_landlock_restrict_self, NONE}, {__NR_process_mrelease, NONE},
    {__NR_futex_waitv, {IN(0, INT(1, 24)), IN(3, FIXED(16))}}, {__NR_set_mempolicy_home_node, NONE},
    {451 /* cachestat */, {IN(1, FIXED(16)), OUT(2, FIXED(40))}}, {452 /* fchmodat2 */, {TEXT(1)}},
    {454 /* futex_wake */, {BOTH(0, FIXED(4))}}, {455 /* futex_wait */, {BOTH(0, FIXED(4)), IN(4, FIXED(16))}},
    {456 /* futex_requeue */, {IN(0, FIXED(48))}}, {462 /* mseal */, NONE},
    {463 /* setxattrat */, {TEXT(1), TEXT(3), IN(4, FIXED(16))}},
    {464 /* getxattrat */, {TEXT(1), TEXT(3), BOTH(4, FIXED(16))}}, {465 /* listxattrat */, {TEXT(1), OUT(3, COUNT(4, 1))}},
    {466 /* removexattrat */, {TEXT(1), TEXT(3)}}, {467 /* open_tree_attr */, {TEXT(1), IN(3, COUNT(4, 1))}},
    {468 /* file_getattr */, {TEXT(1), OUT(2, COUNT(3, 1))}}, {469 /* file_setattr */, {TEXT(1), IN(2, COUNT(3, 1))}},
};

static const struct call *call_numbered(int64_t number) {
    static uint16_t rows[MAX_NUMBER];        /* from 1 on; 0: none */
    uint16_t i;
    if (!rows[__NR_read])
        for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
            rows[calls[i].number] = (uint16_t)(i + 1);
    return (uint64_t)number < MAX_NUMBER && rows[number] ? &calls[rows[number] - 1] : NULL;
}

/* ---------------------------------------------------------------- what it points to */

/* Not above the addresses of processes, where the kernel itself refuses an access. */
static bool is_of_runtime(uint64_t at) {
    return at < USER_END && is_own(at, 1);
}

/* Whether a call may access these bytes; translations of code that it writes are stale then. The kernel accesses them in order,
   and inaccessible pages are before the runtime's, so that the first byte decides. */
static bool is_allowed(uint64_t start, uint64_t bytes, bool written) {
    if (bytes && is_of_runtime(start))
        return false;
    if (written)
        release_code_in(start, bytes);
    return true;
}

static bool are_vectors_allowed(uint64_t at, uint64_t count, bool written) {
    const struct iovec *it = (const struct iovec *)at;
    if (count > MAX_VECTORS || !are_readable(at, count * sizeof(*it)))
        return true;             /* the kernel refuses it */
    for (; count; count--, it++)
        if (!is_allowed((uint64_t)it->iov_base, it->iov_len, written))
            return false;
    return true;
}

static bool is_message_allowed(uint64_t at) {
    const struct message *it = (const struct message *)at;
    return !are_readable(at, sizeof(*it))
        || (is_allowed(it->name, it->name_bytes, true) && is_allowed(it->control, it->control_bytes, true)
            && is_allowed(it->vectors, 1, false) && are_vectors_allowed(it->vectors, it->count, true));
}

static bool are_messages_allowed(uint64_t at, uint64_t count) {
    for (; count && are_readable(at, sizeof(struct messages)); count--, at += sizeof(struct messages))
        if (!is_message_allowed(at))
            return false;
    return true;
}

static bool are_texts_allowed(uint64_t at) {
    for (; at && are_readable(at, sizeof(at)) && *(const uint64_t *)at; at += sizeof(at))
        if (is_of_runtime(*(const uint64_t *)at))
            return false;
    return true;
}

static bool is_request_allowed(const struct iocb *it) {
    bool of_vectors = it->aio_lio_opcode == IOCB_CMD_PREADV || it->aio_lio_opcode == IOCB_CMD_PWRITEV;
    return is_allowed(it->aio_buf, it->aio_nbytes, true) && (!of_vectors || are_vectors_allowed(it->aio_buf, it->aio_nbytes, true));
}

static bool are_requests_allowed(uint64_t at, uint64_t count) {
    for (; count && are_readable(at, sizeof(at)); count--, at += sizeof(at)) {
        uint64_t request = *(const uint64_t *)at;
        if (is_of_runtime(request) || (are_readable(request, sizeof(struct iocb)) && !is_request_allowed((const struct iocb *)request)))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- arguments */

static uint64_t bytes_of_argument(const struct call_pointer *it, const uint64_t *a) {
    uint64_t items = it->count == NO_COUNT ? 1 : it->count & OF_INT ? (uint32_t)a[it->count & ~OF_INT] : a[it->count];
    if (it->access == WITH_LENGTH)
        items = are_readable(a[it->count], 4) ? *(const uint32_t *)a[it->count] : 0;
    if (it->access == OF_BITS)
        items = (items / 64 + 1) * 8;
    return items > (uint64_t)-1 / PAGE ? (uint64_t)-1 / PAGE : items * it->bytes;
}

static bool is_used_by_futex(uint8_t argument, uint64_t command) {
    switch (command) {
    case FUTEX_WAKE: case FUTEX_WAKE_BITSET: case FUTEX_TRYLOCK_PI: case FUTEX_UNLOCK_PI:
        return argument == 0;
    case FUTEX_WAIT: case FUTEX_WAIT_BITSET: case FUTEX_LOCK_PI: case FUTEX_LOCK_PI2:
        return argument != 4;
    case FUTEX_REQUEUE: case FUTEX_CMP_REQUEUE: case FUTEX_CMP_REQUEUE_PI: case FUTEX_WAKE_OP:
        return argument != 3;
    default:
        return true;
    }
}

static bool is_used_by_control(uint64_t command) {
    switch (command) {
    case F_DUPFD: case F_GETFD: case F_SETFD: case F_GETFL: case F_SETFL: case F_SETOWN: case F_GETOWN: case F_SETSIG:
    case F_GETSIG: case F_SETLEASE: case F_GETLEASE: case F_NOTIFY: case F_DUPFD_CLOEXEC: case F_SETPIPE_SZ:
    case F_GETPIPE_SZ: case F_ADD_SEALS: case F_GET_SEALS:
        return false;
    default:
        return true;
    }
}

static bool is_used_by_semaphores(uint64_t command) {
    return command != IPC_RMID && command != GETVAL && command != SETVAL && command != GETPID && command != GETNCNT
        && command != GETZCNT;
}

/* Whether a call takes an argument as a pointer, where another argument decides that. What the register holds else is any
   number, such as a time, which may be an address of the runtime's. */
static bool is_used(int64_t number, uint8_t argument, const uint64_t *a) {
    switch (number) {
    case __NR_futex:
        return is_used_by_futex(argument, (uint32_t)a[1] & FUTEX_CMD_MASK);
    case __NR_fcntl:
        return is_used_by_control((uint32_t)a[1]);
    case __NR_clone:
        return a[0] & (argument == 2 ? CLONE_PARENT_SETTID | CLONE_PIDFD : CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
    case __NR_epoll_ctl:
        return (uint32_t)a[1] != EPOLL_CTL_DEL;
    case __NR_msgctl: case __NR_shmctl:
        return (uint32_t)a[1] != IPC_RMID;
    case __NR_semctl:
        return is_used_by_semaphores((uint32_t)a[2]);
    default:
        return true;
    }
}

static bool is_pointer_allowed(const struct call_pointer *it, const uint64_t *a) {
    uint64_t at = a[it->argument], bytes = bytes_of_argument(it, a);
    bool written = it->access == WRITTEN || it->access == READ_AND_WRITTEN || it->access == OF_BITS || it->access == WITH_LENGTH
        || it->access >= TO_MESSAGE;
    if (!is_allowed(at, bytes, written))
        return false;
    switch (it->access) {
    case TO_TEXTS:
        return are_texts_allowed(at);
    case TO_VECTORS_READ: case TO_VECTORS_WRITTEN:
        return are_vectors_allowed(at, a[it->count], it->access == TO_VECTORS_WRITTEN);
    case TO_MESSAGE:
        return is_message_allowed(at);
    case TO_MESSAGES:
        return are_messages_allowed(at, bytes / it->bytes);
    case TO_REQUESTS:
        return are_requests_allowed(at, a[it->count]);
    default:
        return true;
    }
}

/* The list of interfaces has a pointer of its own (netdevice(7)). */
static bool is_interface_list_allowed(const uint64_t *a) {
    const struct { int32_t bytes; uint64_t at; } *list = (const void *)a[2];
    return a[1] != SIOCGIFCONF || !are_readable(a[2], sizeof(*list)) || is_allowed(list->at, (uint32_t)list->bytes, true);
}

/* Whether guests have the call, and it accesses nothing of the runtime's: 0, or a negative error. Translations of code that it
   writes are stale then. */
int64_t check_call(int64_t number, const uint64_t *a) {
    const struct call *it = call_numbered(number);
    const struct call_pointer *pointer;
    if (!it)
        return -ENOSYS;
    for (pointer = it->pointers; pointer < it->pointers + MAX_POINTERS && pointer->access != NO_POINTER; pointer++)
        if (is_used(number, pointer->argument, a) && !is_pointer_allowed(pointer, a))
            return -EFAULT;
    return number == __NR_ioctl && !is_interface_list_allowed(a) ? -EFAULT : 0;
}
