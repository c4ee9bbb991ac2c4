"""File metadata: stat and related calls, access rights, owners, times, file systems."""

from __future__ import annotations

import errno
import os
import stat

from pfmon.engine.linux.abi.structures import STATFS, STATX, TIMESPEC, TIMEVAL
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.open_flags import AT_EACCESS, AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW
from pfmon.engine.linux.memory.user_memory import int32, signed
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.time.clock import SECOND

STATX_BASIC_STATS = 0x7FF
UTIME_NOW, UTIME_OMIT = (1 << 30) - 1, (1 << 30) - 2
F_OK = 0
NO_CHANGE = -1
DEVICES = (stat.S_IFCHR, stat.S_IFBLK)
FILE_SYSTEM_TYPE = 0xEF53  # ext2: statvfs has no type


def _owner(p: Process, status: os.stat_result) -> tuple[int, int]:
    """Owner and group: the user's own files belong to the user that the program runs as."""
    s = p.settings
    user = s.user_id if status.st_uid == os.getuid() else status.st_uid
    group = s.group_id if status.st_gid == os.getgid() else status.st_gid
    return user, group


def _write_stat(p: Process, address: int, status: os.stat_result) -> int:
    p.user.write(address, p.abi.pack_stat(status, *_owner(p, status)))
    return 0


def _status(p: Process, directory: int, address: int, flags: int) -> os.stat_result:
    """The status of the file at a path, or with AT_EMPTY_PATH of an open file."""
    path = p.user.string(address) if address or not flags & AT_EMPTY_PATH else b""
    if not path:
        if not flags & AT_EMPTY_PATH:
            fail(errno.ENOENT)
        if directory != AT_FDCWD:
            return os.fstat(p.files.host(directory))
        path = b"."
    follow = not flags & AT_SYMLINK_NOFOLLOW
    name, at = p.paths.resolve(p.files, directory, path, follow)
    return os.stat(name, dir_fd=at, follow_symlinks=follow)


@system_call("stat")
def stat_(p: Process, path: int, buffer: int) -> int:
    return _write_stat(p, buffer, _status(p, AT_FDCWD, path, 0))


@system_call("lstat")
def lstat(p: Process, path: int, buffer: int) -> int:
    return _write_stat(p, buffer, _status(p, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW))


@system_call("fstat")
def fstat(p: Process, fd: int, buffer: int) -> int:
    return _write_stat(p, buffer, os.fstat(p.files.host(int32(fd))))


@system_call("newfstatat")
def newfstatat(p: Process, directory: int, path: int, buffer: int, flags: int) -> int:
    return _write_stat(p, buffer, _status(p, int32(directory), path, int32(flags)))


@system_call("statx")
def statx(p: Process, directory: int, path: int, flags: int, mask: int, buffer: int) -> int:
    s = _status(p, int32(directory), path, int32(flags))
    user, group = _owner(p, s)
    times: list[int] = []
    for ns in (s.st_atime_ns, 0, s.st_ctime_ns, s.st_mtime_ns):
        times += [ns // SECOND, ns % SECOND, 0]
    rdev = (os.major(s.st_rdev), os.minor(s.st_rdev))
    dev = (os.major(s.st_dev), os.minor(s.st_dev))
    head = (STATX_BASIC_STATS, s.st_blksize, 0, s.st_nlink, user, group, s.st_mode, 0)
    p.user.pack(STATX, buffer, *head, s.st_ino, s.st_size, s.st_blocks, 0, *times, *rdev, *dev)
    return 0


@system_call("access")
def access(p: Process, path: int, mode: int) -> int:
    return _access(p, AT_FDCWD, path, mode, 0)


@system_call("faccessat")
def faccessat(p: Process, directory: int, path: int, mode: int) -> int:
    return _access(p, int32(directory), path, mode, 0)


@system_call("faccessat2")
def faccessat2(p: Process, directory: int, path: int, mode: int, flags: int) -> int:
    return _access(p, int32(directory), path, mode, int32(flags))


def _access(p: Process, directory: int, address: int, mode: int, flags: int) -> int:
    if int32(mode) & ~7 or flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH):
        fail(errno.EINVAL)
    _status(p, directory, address, flags)  # fails as access does if it does not exist
    path = p.user.string(address) or b"."
    follow = not flags & AT_SYMLINK_NOFOLLOW
    name, at = p.paths.resolve(p.files, directory, path, follow)
    if not os.access(name, int32(mode), dir_fd=at, follow_symlinks=follow):
        fail(errno.EACCES)
    return 0


@system_call("chmod")
def chmod(p: Process, path: int, mode: int) -> int:
    return fchmodat(p, AT_FDCWD, path, mode) or 0


@system_call("fchmodat")
def fchmodat(p: Process, directory: int, path: int, mode: int) -> int:
    name, at = p.paths.resolve(p.files, int32(directory), p.user.path(path))
    os.chmod(name, mode & 0o7777, dir_fd=at)
    return 0


@system_call("fchmod")
def fchmod(p: Process, fd: int, mode: int) -> int:
    os.fchmod(p.files.host(int32(fd)), mode & 0o7777)
    return 0


def _host_owner(p: Process, user: int, group: int) -> tuple[int, int]:
    """Ids for the host: the program's own ids are the user's there."""
    s = p.settings
    user, group = int32(user), int32(group)
    return (
        os.getuid() if user == s.user_id else user,
        os.getgid() if group == s.group_id else group,
    )


@system_call("chown")
def chown(p: Process, path: int, user: int, group: int) -> int:
    return fchownat(p, AT_FDCWD, path, user, group, 0) or 0


@system_call("lchown")
def lchown(p: Process, path: int, user: int, group: int) -> int:
    return fchownat(p, AT_FDCWD, path, user, group, AT_SYMLINK_NOFOLLOW) or 0


@system_call("fchownat")
def fchownat(p: Process, directory: int, path: int, user: int, group: int, flags: int) -> int:
    follow = not int32(flags) & AT_SYMLINK_NOFOLLOW
    name, at = p.paths.resolve(p.files, int32(directory), p.user.path(path), follow)
    os.chown(name, *_host_owner(p, user, group), dir_fd=at, follow_symlinks=follow)
    return 0


@system_call("fchown")
def fchown(p: Process, fd: int, user: int, group: int) -> int:
    os.fchown(p.files.host(int32(fd)), *_host_owner(p, user, group))
    return 0


def _set_times(p: Process, directory: int, address: int, times: list[tuple[int, int]] | None, flags: int) -> int:
    """Set access and modification time, given as (seconds, nanoseconds); None: the program's present time."""
    follow = not flags & AT_SYMLINK_NOFOLLOW
    now = p.clock.realtime()
    if times is None:
        times = [(0, UTIME_NOW)] * 2
    status = os.fstat(p.files.host(directory)) if not address else _status(p, directory, address, flags)
    chosen = []
    for (seconds, ns), old in zip(times, (status.st_atime_ns, status.st_mtime_ns), strict=True):
        if ns not in (UTIME_NOW, UTIME_OMIT) and not 0 <= ns < SECOND:
            fail(errno.EINVAL)
        chosen.append({UTIME_NOW: now, UTIME_OMIT: old}.get(ns, seconds * SECOND + ns))
    if not address:
        os.utime(p.files.host(directory), ns=(chosen[0], chosen[1]))
    else:
        name, at = p.paths.resolve(p.files, directory, p.user.path(address), follow)
        os.utime(name, ns=(chosen[0], chosen[1]), dir_fd=at, follow_symlinks=follow)
    return 0


@system_call("utimensat")
def utimensat(p: Process, directory: int, path: int, times: int, flags: int) -> int:
    pair = None
    if times:
        pair = [p.user.unpack(TIMESPEC, times + i * TIMESPEC.size) for i in (0, 1)]
    return _set_times(p, int32(directory), path, [(a, b) for a, b in pair] if pair else None, int32(flags))


@system_call("utimes")
def utimes(p: Process, path: int, times: int) -> int:
    return futimesat(p, AT_FDCWD, path, times) or 0


@system_call("futimesat")
def futimesat(p: Process, directory: int, path: int, times: int) -> int:
    pair = None
    if times:
        pair = [p.user.unpack(TIMEVAL, times + i * TIMEVAL.size) for i in (0, 1)]
        if any(not 0 <= micro < 1_000_000 for _, micro in pair):
            fail(errno.EINVAL)
    p.user.path(path)
    return _set_times(p, int32(directory), path, [(a, 1000 * b) for a, b in pair] if pair else None, 0)


@system_call("truncate")
def truncate(p: Process, path: int, length: int) -> int:
    if signed(length) < 0:
        fail(errno.EINVAL)
    os.truncate(p.paths.host_name(p.files, AT_FDCWD, p.user.path(path)), length)
    return 0


@system_call("mknod")
def mknod(p: Process, path: int, mode: int, device: int) -> int:
    return mknodat(p, AT_FDCWD, path, mode, device) or 0


@system_call("mknodat")
def mknodat(p: Process, directory: int, path: int, mode: int, device: int) -> int:
    name, at = p.paths.resolve(p.files, int32(directory), p.user.path(path), follow=False)
    kind = stat.S_IFMT(mode & 0xFFFF) or stat.S_IFREG
    if p.paths.confined and kind in DEVICES:
        fail(errno.EPERM)
    with p.umask.creating():
        os.mknod(name, kind | mode & 0o7777, device & 0xFFFFFFFF, dir_fd=at)
    return 0


@system_call("umask")
def umask(p: Process, mask: int) -> int:
    return p.umask.set(mask)


@system_call("statfs")
def statfs(p: Process, path: int, buffer: int) -> int:
    name, at = p.paths.resolve(p.files, AT_FDCWD, p.user.path(path))
    host = os.open(name, os.O_PATH | os.O_CLOEXEC, dir_fd=at)
    try:
        return _write_statfs(p, buffer, os.fstatvfs(host))
    finally:
        os.close(host)


@system_call("fstatfs")
def fstatfs(p: Process, fd: int, buffer: int) -> int:
    return _write_statfs(p, buffer, os.fstatvfs(p.files.host(int32(fd))))


def _write_statfs(p: Process, buffer: int, v: os.statvfs_result) -> int:
    counts = (v.f_blocks, v.f_bfree, v.f_bavail, v.f_files, v.f_ffree)
    p.user.pack(STATFS, buffer, FILE_SYSTEM_TYPE, v.f_bsize, *counts, 0, 0, v.f_namemax, v.f_frsize, v.f_flag)
    return 0
