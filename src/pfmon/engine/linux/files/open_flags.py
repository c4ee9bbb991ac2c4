"""Flags of open, fcntl and the *at calls: values of programs (include/uapi/asm-generic/fcntl.h) and of this host."""

from __future__ import annotations

import os

O_ACCMODE, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NONBLOCK = 0o3, 0o100, 0o200, 0o1000, 0o2000, 0o4000
O_DIRECTORY, O_NOFOLLOW, O_CLOEXEC, O_PATH = 0o200000, 0o400000, 0o2000000, 0o10000000

# guest value, host value; access modes 0-2 are the same everywhere
FLAGS = (
    (O_CREAT, os.O_CREAT),
    (O_EXCL, os.O_EXCL),
    (0o400, os.O_NOCTTY),
    (O_TRUNC, os.O_TRUNC),
    (O_APPEND, os.O_APPEND),
    (O_NONBLOCK, os.O_NONBLOCK),
    (0o10000, os.O_DSYNC),
    (0o20000, os.O_ASYNC),
    (0o40000, os.O_DIRECT),
    (O_DIRECTORY, os.O_DIRECTORY),
    (O_NOFOLLOW, os.O_NOFOLLOW),
    (0o1000000, os.O_NOATIME),
    (0o4010000, os.O_SYNC),
    (O_PATH, os.O_PATH),
    (0o20200000, os.O_TMPFILE),
)

AT_FDCWD = -100
AT_SYMLINK_NOFOLLOW, AT_REMOVEDIR, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH = 0x100, 0x200, 0x400, 0x1000
AT_EACCESS = 0x200
S_IFMT, S_IFREG, S_IFDIR, S_IFLNK = 0o170000, 0o100000, 0o040000, 0o120000


def to_host(flags: int) -> int:
    """Flags of open for the host, always with close-on-exec."""
    host = flags & O_ACCMODE | os.O_CLOEXEC
    for guest, value in FLAGS:
        if flags & guest == guest:
            host |= value
    return host


def to_guest(flags: int) -> int:
    """The guest's values of the host's F_GETFL flags."""
    guest = flags & O_ACCMODE
    for value, host in FLAGS:
        if host and flags & host == host:
            guest |= value
    return guest
