"""Layouts of the structures that Linux passes to and from 64-bit little-endian programs, whatever their instruction set
(include/uapi/asm-generic); `LinuxAbi` has those that differ."""

from __future__ import annotations

from struct import Struct

U64 = Struct("<Q")
U32 = Struct("<I")
WORDS2 = Struct("<2Q")
INT = Struct("<i")
INT2 = Struct("<2i")
INT3 = Struct("<3i")

# mask blksize attributes | nlink uid gid | mode pad | ino size blocks attributes_mask | four times s ns pad
# | rdev_major rdev_minor dev_major dev_minor | 14 spare
STATX = Struct("<IIQ3IHHQQQQ" + "qIi" * 4 + "4I" + "112x")
# type bsize blocks bfree bavail files ffree | fsid | namelen frsize flags | 4 spare
STATFS = Struct("<7q2i3q32x")
TIMESPEC = Struct("<2q")
TIMEVAL = Struct("<2q")
ITIMERVAL = Struct("<4q")
TIMEZONE = Struct("<2i")
TMS = Struct("<4q")
UTSNAME = Struct("<65s65s65s65s65s65s")
RLIMIT = Struct("<2Q")
RUSAGE = Struct("<18q")
# uptime loads[3] | ram: total free shared buffer, swap: total free | procs pad | high: total free | mem_unit
SYSINFO = Struct("<q9QHH4xQQI4x")
IOVEC = Struct("<2Q")
POLLFD = Struct("<ihh")
DIRENT64 = Struct("<QqHB")  # ino off reclen type, then the name
FLOCK = Struct("<hh4xqqi4x")  # type whence start len pid
SIGALTSTACK = Struct("<Qi4xQ")  # sp flags size
TERMIOS = Struct("<4I20s")  # iflag oflag cflag lflag | line and 19 control characters
WINSIZE = Struct("<4H")
ITIMERSPEC = Struct("<4q")  # interval and value: seconds, nanoseconds
SIGINFO_FIELDS = Struct("<3i4xiIQ")  # signo errno code | pid uid value
# signo errno code | pid uid fd tid band overrun trapno status int | ptr, then times and addresses
SIGNALFD_SIGINFO = Struct("<IiiIIiIIIIiiQ72x")
MSGHDR = Struct("<QI4xQQQQi4x")  # name namelen iov iovlen control controllen flags
CMSGHDR = Struct("<Qii")  # len level type
ROBUST_LIST_HEAD = Struct("<QqQ")  # list offset pending

SIGINFO_SIZE = 128
SIGINFO_KILL = Struct("<3i4xiI104x")  # signo errno code | pid uid
SIGINFO_QUEUE = Struct("<3i4xiIQ96x")  # signo errno code | pid uid value
SIGINFO_TIMER = Struct("<3i4xiiQ96x")  # signo errno code | timer overrun value
SIGINFO_CHILD = Struct("<3i4xiIi4x2q80x")  # signo errno code | pid uid status utime stime
SIGINFO_FAULT = Struct("<3i4xQ")  # signo errno code | address, then what the instruction set adds
SIGINFO_POLL = Struct("<3i4xqi100x")  # signo errno code | band fd
