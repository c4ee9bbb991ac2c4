"""System call numbers of Linux for IA-64: 1024 plus the place in the architecture's table."""

from __future__ import annotations

FIRST = 1024

# Each row starts at its first number and counts up; "-" is a number without a call.
_ROWS = """
0 - exit read write open close creat link unlink execve
10 chdir fchdir utimes mknod chmod chown lseek getpid getppid mount
20 umount2 setuid getuid geteuid ptrace access sync fsync fdatasync kill
30 rename mkdir rmdir dup pipe times brk setgid getgid getegid
40 acct ioctl fcntl umask chroot ustat dup2 setreuid setregid getresuid
50 setresuid getresgid setresgid getgroups setgroups getpgid setpgid setsid getsid sethostname
60 setrlimit getrlimit getrusage gettimeofday settimeofday select poll symlink readlink uselib
70 swapon swapoff reboot truncate ftruncate fchmod fchown getpriority setpriority statfs
80 fstatfs gettid semget semop semctl msgget msgsnd msgrcv msgctl shmget
90 shmat shmdt shmctl syslog setitimer getitimer - - - vhangup
100 lchown remap_file_pages wait4 sysinfo clone setdomainname uname adjtimex - init_module
110 delete_module - - quotactl bdflush sysfs personality afs_syscall setfsuid setfsgid
120 getdents flock readv writev pread64 pwrite64 _sysctl mmap munmap mlock
130 mlockall mprotect mremap msync munlock munlockall sched_getparam sched_setparam sched_getscheduler
139 sched_setscheduler sched_yield sched_get_priority_max sched_get_priority_min sched_rr_get_interval
144 nanosleep nfsservctl prctl old_getpagesize mmap2 pciconfig_read pciconfig_write perfmonctl
152 sigaltstack rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
159 rt_sigtimedwait getcwd capget capset sendfile getpmsg putpmsg socket bind connect listen
170 accept getsockname getpeername socketpair send sendto recv recvfrom shutdown setsockopt
180 getsockopt sendmsg recvmsg pivot_root mincore madvise stat lstat fstat clone2
190 getdents64 getunwind readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr
200 llistxattr flistxattr removexattr lremovexattr fremovexattr tkill futex sched_setaffinity
208 sched_getaffinity set_tid_address fadvise64 tgkill exit_group lookup_dcookie io_setup io_destroy
216 io_getevents io_submit io_cancel epoll_create epoll_ctl epoll_wait restart_syscall semtimedop
224 timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime
230 clock_gettime clock_getres clock_nanosleep fstatfs64 statfs64 mbind get_mempolicy set_mempolicy
238 mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load vserver
246 waitid add_key request_key keyctl ioprio_set ioprio_get move_pages inotify_init
254 inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat fchownat futimesat
262 newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll
272 unshare splice set_robust_list get_robust_list sync_file_range tee vmsplice fallocate getcpu
281 epoll_pwait utimensat signalfd timerfd eventfd timerfd_create timerfd_settime timerfd_gettime
289 signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo
298 recvmmsg fanotify_init fanotify_mark prlimit64 name_to_handle_at open_by_handle_at clock_adjtime
305 syncfs setns sendmmsg process_vm_readv process_vm_writev accept4 finit_module sched_setattr
313 sched_getattr renameat2 getrandom memfd_create bpf execveat userfaultfd membarrier kcmp mlock2
323 copy_file_range preadv2 pwritev2 statx io_pgetevents perf_event_open seccomp pkey_mprotect
331 pkey_alloc pkey_free rseq
424 pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen
431 fsconfig fsmount fspick pidfd_open
436 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr
"""


def _names() -> dict[int, str]:
    names = {}
    for row in _ROWS.split("\n"):
        first, *calls = row.split() or ["0"]
        for i, name in enumerate(calls):
            if name != "-":
                names[FIRST + int(first) + i] = name
    return names


NAMES = _names()
NUMBERS = {name: number for number, name in NAMES.items()}
