"""Opening, duplicating and closing descriptors; fcntl."""

from __future__ import annotations

import errno
import fcntl as host_fcntl
import os
import stat
from contextlib import nullcontext

from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files import open_flags
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.files.open_flags import AT_FDCWD, O_CLOEXEC, O_CREAT, O_NOFOLLOW, O_TRUNC
from pfmon.engine.linux.files.special_files import open_special
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.fasync import NotifyingFile

F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL = range(5)
F_GETOWN = 9
F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ = 1030, 1031, 1032
FD_CLOEXEC = 1
SETTABLE = open_flags.O_APPEND | open_flags.O_NONBLOCK
LOCKS = (5, 6, 7, 36, 37, 38)
"""F_GETLK, F_SETLK, F_SETLKW; F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW."""


def _open(p: Process, directory: int, address: int, flags: int, mode: int) -> int:
    path = p.user.path(address)
    file = open_special(p, path)
    if file is None:
        follow = not flags & O_NOFOLLOW and flags & 0o300 != 0o300
        with p.umask.creating() if flags & O_CREAT else nullcontext():
            host = _host_file(p, directory, path, open_flags.to_host(flags), mode & 0o7777, follow)
        file = OpenFile(host, True, path)
        if flags & O_TRUNC:
            p.mappings.after_write(file)
    return p.files.add(file, bool(flags & O_CLOEXEC))


def _host_file(p: Process, directory: int, path: bytes, flags: int, mode: int, follow: bool) -> int:
    """The host's descriptor of a file that the program opens."""
    if not p.paths.confined:
        name, at = p.paths.resolve(p.files, directory, path, follow)
        return _open_host(p, name, flags, mode, at)
    found = p.paths.look_below(p.files, directory, path, flags, follow)
    if found is None:
        return p.paths.create_below(p.files, directory, path, flags, mode)
    return _open_host(p, found, flags & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW), mode, None)


def _open_host(p: Process, name: bytes, flags: int, mode: int, at: int | None) -> int:
    """The host's descriptor. Opening a named pipe does not wait on the host: a reader waits at its first read, a writer
    is retried."""
    if flags & os.O_NONBLOCK or flags & os.O_PATH or not _is_pipe(name, at):
        return os.open(name, flags, mode, dir_fd=at)
    try:
        host = os.open(name, flags | os.O_NONBLOCK, mode, dir_fd=at)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return blocking_calls.come_again(p, "for a reader of a named pipe")
    os.set_blocking(host, True)
    return host


def _is_pipe(name: bytes, at: int | None) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(name, dir_fd=at).st_mode)
    except OSError:
        return False


@system_call("open")
def open_(p: Process, path: int, flags: int, mode: int) -> int:
    return _open(p, AT_FDCWD, path, int32(flags), mode)


@system_call("openat")
def openat(p: Process, directory: int, path: int, flags: int, mode: int) -> int:
    return _open(p, int32(directory), path, int32(flags), mode)


@system_call("creat")
def creat(p: Process, path: int, mode: int) -> int:
    return _open(p, AT_FDCWD, path, O_CREAT | O_TRUNC | 1, mode)


@system_call("close")
def close(p: Process, fd: int) -> int:
    p.mappings.before_access(p.files.get(int32(fd)))
    p.files.close(int32(fd))
    return 0


@system_call("close_range")
def close_range(p: Process, first: int, last: int, flags: int) -> int:
    if first > last or flags & ~0x4:
        fail(errno.EINVAL)
    for number in p.files.numbers():
        if first <= number <= last:
            if flags & 0x4:
                p.files.set_close_on_exec(number, True)
            else:
                p.files.close(number)
    return 0


@system_call("dup")
def dup(p: Process, fd: int) -> int:
    return p.files.add(p.files.get(int32(fd)))


@system_call("dup2")
def dup2(p: Process, fd: int, number: int) -> int:
    file = p.files.get(int32(fd))
    if int32(fd) == int32(number):
        return int32(fd)
    return p.files.replace(int32(number), file, False)


@system_call("dup3")
def dup3(p: Process, fd: int, number: int, flags: int) -> int:
    if int32(flags) & ~O_CLOEXEC or int32(fd) == int32(number):
        fail(errno.EINVAL)
    return p.files.replace(int32(number), p.files.get(int32(fd)), bool(flags & O_CLOEXEC))


@system_call("fcntl")
def fcntl(p: Process, fd: int, command: int, argument: int) -> int:
    number, what = int32(fd), int32(command)
    descriptor = p.files.entry(number)
    file = descriptor.file
    if what in (F_DUPFD, F_DUPFD_CLOEXEC):
        if not 0 <= int32(argument) < p.files.limit:
            fail(errno.EINVAL)
        return p.files.add(file, what == F_DUPFD_CLOEXEC, int32(argument))
    if what == F_GETFD:
        return FD_CLOEXEC if descriptor.close_on_exec else 0
    if what == F_SETFD:
        p.files.set_close_on_exec(number, bool(argument & FD_CLOEXEC))
        return 0
    own = file.fcntl(p, what, argument) if isinstance(file, NotifyingFile) else None
    if own is not None:
        return own
    if what == F_GETFL:
        return p.file_flags(file)
    if what == F_SETFL:
        kept = p.file_flags(file) & ~SETTABLE
        host_fcntl.fcntl(file.host, host_fcntl.F_SETFL, open_flags.to_host(kept | argument & SETTABLE))
        return 0
    if what in LOCKS:
        from pfmon.engine.linux.calls import sys_locks

        return sys_locks.records(p, file, what, argument)
    if what in (F_SETPIPE_SZ, F_GETPIPE_SZ):
        return host_fcntl.fcntl(file.host, what, argument & 0x7FFFFFFF)
    if what == F_GETOWN:
        return 0
    return fail(errno.EINVAL)


@system_call("memfd_create")
def memfd_create(p: Process, name: int, flags: int) -> int:
    label = p.user.string(name, 250)
    return p.files.add(OpenFile(os.memfd_create(os.fsdecode(label)), True, b"memfd:" + label), bool(flags & 1))
