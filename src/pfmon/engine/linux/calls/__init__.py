"""The system calls, by subject: a module each, loaded before the program starts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pfmon.engine.linux.abi.linux_abi import LinuxAbi
from pfmon.engine.linux.calls.syscall_table import HANDLERS, Handler, Numbered
from pfmon.errors import LostError, reason

CALLS = {
    "sys_control": "prctl personality reboot mount umount2 settimeofday clock_settime sethostname perf_event_open",
    "sys_descriptors": "open openat creat close close_range dup dup2 dup3 fcntl memfd_create",
    "sys_directories": (
        "getdents64 getdents getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 "
        "link linkat symlink symlinkat readlink readlinkat"
    ),
    "sys_events": (
        "epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd eventfd2 timerfd_create "
        "timerfd_settime timerfd_gettime signalfd signalfd4 inotify_init inotify_init1 inotify_add_watch "
        "inotify_rm_watch"
    ),
    "sys_identity": (
        "getpid gettid getppid getuid geteuid getgid getegid getresuid getresgid getgroups setuid setreuid "
        "setresuid setgid setregid setresgid setgroups getpgid getsid setpgid setsid uname sysinfo "
        "sched_getaffinity sched_setaffinity getcpu getrandom"
    ),
    "sys_io": (
        "read write pread64 pwrite64 readv writev preadv pwritev sendfile lseek ftruncate fallocate fsync "
        "fdatasync sync fadvise64 readahead pipe2"
    ),
    "sys_limits": (
        "getrlimit setrlimit prlimit64 getrusage getpriority setpriority sched_getscheduler "
        "sched_get_priority_max sched_get_priority_min sched_setscheduler sched_getparam sched_setparam "
        "sched_yield"
    ),
    "sys_locks": "flock",
    "sys_memory": (
        "brk mmap mmap2 munmap mprotect pkey_mprotect mremap madvise msync mincore mlock mlock2 munlock mlockall "
        "munlockall"
    ),
    "sys_metadata": (
        "stat lstat fstat newfstatat statx access faccessat faccessat2 chmod fchmodat fchmod chown lchown "
        "fchownat fchown utimensat utimes futimesat truncate mknod mknodat umask statfs fstatfs"
    ),
    "sys_posix_timers": "timer_create timer_settime timer_gettime timer_getoverrun timer_delete",
    "sys_processes": "clone execve execveat exit exit_group wait4 waitid",
    "sys_signals": (
        "rt_sigaction rt_sigprocmask rt_sigpending rt_sigsuspend rt_sigtimedwait kill tkill tgkill "
        "rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack rt_sigreturn"
    ),
    "sys_sockets": (
        "socket socketpair bind connect listen accept accept4 getsockname getpeername shutdown setsockopt "
        "getsockopt sendto send recvfrom recv sendmsg recvmsg sendmmsg recvmmsg"
    ),
    "sys_terminal": "ioctl",
    "sys_threads": "set_tid_address set_robust_list get_robust_list futex membarrier rseq",
    "sys_time": "clock_gettime clock_getres gettimeofday times nanosleep clock_nanosleep getitimer setitimer",
    "sys_tracing": "ptrace",
    "sys_waiting": "poll ppoll select pselect6",
}
"""The modules of this package, and the names of their system calls."""

OF_FUNCTIONS = (
    "process.clone",
    "process.execve",
    "perf.perf_open",
)
"""Modules of the package above that functions import, as they import the modules of these functions."""

__all__ = ["CALLS", "HANDLERS", "load"]


def load(abi: LinuxAbi[Any]) -> Numbered:
    """All calls by the numbers that they have in this ABI: a program may make any of them, and from its start on
    nothing is imported. LostError: no host descriptor or memory is left."""
    above = __name__.rpartition(".")[0]
    own: dict[str, Handler] = {}
    try:
        for module in CALLS:
            import_module(f"{__name__}.{module}")
        for module in OF_FUNCTIONS:
            import_module(f"{above}.{module}")
        for module in abi.call_modules:
            own |= getattr(import_module(module), "CALLS", {})
    except (OSError, MemoryError, ImportError) as error:  # not an error of the program
        raise LostError(f"what carries out system calls cannot be loaded: {reason(error)}") from None
    return {
        abi.call_numbers[name]: (handler, handler.__code__.co_argcount - 1)
        for name, handler in (HANDLERS | own).items()
        if name in abi.call_numbers
    }
