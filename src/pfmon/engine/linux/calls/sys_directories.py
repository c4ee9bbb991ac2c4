"""Directories: reading them; creating, renaming and removing names; the working directory."""

from __future__ import annotations

import errno
import os

from pfmon.engine.linux.abi.structures import DIRENT64
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.file_table import DirectoryEntry, OpenFile
from pfmon.engine.linux.files.open_flags import AT_FDCWD, AT_REMOVEDIR, AT_SYMLINK_FOLLOW
from pfmon.engine.linux.memory.user_memory import MAX_PATH_BYTES, int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail

DT_UNKNOWN, DT_DIR, DT_REG, DT_LNK = 0, 4, 8, 10
RENAME_NOREPLACE = 1


def _kind(entry: os.DirEntry[str]) -> int:
    if entry.is_symlink():
        return DT_LNK
    if entry.is_dir(follow_symlinks=False):
        return DT_DIR
    return DT_REG if entry.is_file(follow_symlinks=False) else DT_UNKNOWN


def _entries(p: Process, file: OpenFile) -> list[DirectoryEntry]:
    """The directory's entries, sorted by name: the order differs between hosts."""
    with os.scandir(file.host) as found:
        entries = [DirectoryEntry(e.inode(), _kind(e), os.fsencode(e.name)) for e in found]
    here = os.fstat(file.host).st_ino
    above = here if p.paths.is_root(file.host) else os.stat("..", dir_fd=file.host).st_ino
    return [
        DirectoryEntry(here, DT_DIR, b"."),
        DirectoryEntry(above, DT_DIR, b".."),
        *sorted(entries, key=lambda e: e.name),
    ]


@system_call("getdents64")
def getdents64(p: Process, fd: int, buffer: int, size: int) -> int:
    return _getdents(p, fd, buffer, size, True)


@system_call("getdents")
def getdents(p: Process, fd: int, buffer: int, size: int) -> int:
    """The older layout: the type is the last byte of the record."""
    return _getdents(p, fd, buffer, size, False)


def _getdents(p: Process, fd: int, buffer: int, size: int, wide: bool) -> int:
    file = p.files.get(int32(fd))
    if file.entries is None:
        file.entries = _entries(p, file)
        file.position = 0
    data = b""
    position = file.position
    while position < len(file.entries):
        e = file.entries[position]
        length = (DIRENT64.size + len(e.name) + 1 + 7) & -8
        if len(data) + length > size:
            break
        position += 1
        head = DIRENT64.pack(e.inode, position, length, e.kind)
        if wide:
            data += (head + e.name).ljust(length, b"\0")
        else:
            data += (head[:-1] + e.name).ljust(length - 1, b"\0") + head[-1:]
    if not data and position < len(file.entries):
        fail(errno.EINVAL)
    p.user.write(buffer, data)
    file.position = position
    return len(data)


@system_call("getcwd")
def getcwd(p: Process, buffer: int, size: int) -> int:
    path = p.paths.working_directory() + b"\0"
    if len(path) > size:
        fail(errno.ERANGE)
    p.user.write(buffer, path)
    return len(path)


@system_call("chdir")
def chdir(p: Process, path: int) -> int:
    name, at = p.paths.resolve(p.files, AT_FDCWD, p.user.path(path))
    _enter(p, os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at))
    return 0


@system_call("fchdir")
def fchdir(p: Process, fd: int) -> int:
    _enter(p, os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=p.files.host(int32(fd))))
    return 0


def _enter(p: Process, host: int) -> None:
    if not os.access(".", os.X_OK, dir_fd=host):
        os.close(host)
        fail(errno.EACCES)
    p.paths.change_directory(host)


@system_call("mkdir")
def mkdir(p: Process, path: int, mode: int) -> int:
    return mkdirat(p, AT_FDCWD, path, mode) or 0


@system_call("mkdirat")
def mkdirat(p: Process, directory: int, path: int, mode: int) -> int:
    name, at = p.paths.resolve(p.files, int32(directory), p.user.path(path))
    with p.umask.creating():
        os.mkdir(name, mode & 0o7777, dir_fd=at)
    return 0


@system_call("rmdir")
def rmdir(p: Process, path: int) -> int:
    return _unlink(p, AT_FDCWD, path, True)


@system_call("unlink")
def unlink(p: Process, path: int) -> int:
    return _unlink(p, AT_FDCWD, path, False)


@system_call("unlinkat")
def unlinkat(p: Process, directory: int, path: int, flags: int) -> int:
    if int32(flags) & ~AT_REMOVEDIR:
        fail(errno.EINVAL)
    return _unlink(p, int32(directory), path, bool(flags & AT_REMOVEDIR))


def _unlink(p: Process, directory: int, path: int, remove_directory: bool) -> int:
    name, at = p.paths.resolve(p.files, directory, p.user.path(path), follow=False)
    if remove_directory:
        os.rmdir(name, dir_fd=at)
    else:
        os.unlink(name, dir_fd=at)
    return 0


@system_call("rename")
def rename(p: Process, old: int, new: int) -> int:
    return _rename(p, AT_FDCWD, old, AT_FDCWD, new)


@system_call("renameat")
def renameat(p: Process, old_directory: int, old: int, new_directory: int, new: int) -> int:
    return _rename(p, int32(old_directory), old, int32(new_directory), new)


@system_call("renameat2")
def renameat2(p: Process, old_directory: int, old: int, new_directory: int, new: int, flags: int) -> int:
    if int32(flags) == RENAME_NOREPLACE:
        name, at = p.paths.resolve(p.files, int32(new_directory), p.user.path(new), follow=False)
        try:
            os.lstat(name, dir_fd=at)
        except FileNotFoundError:
            pass
        else:
            fail(errno.EEXIST)
    elif int32(flags):
        fail(errno.EINVAL)
    return _rename(p, int32(old_directory), old, int32(new_directory), new)


def _rename(p: Process, old_directory: int, old: int, new_directory: int, new: int) -> int:
    source, source_at = p.paths.resolve(p.files, old_directory, p.user.path(old), follow=False)
    target, target_at = p.paths.resolve(p.files, new_directory, p.user.path(new), follow=False)
    os.rename(source, target, src_dir_fd=source_at, dst_dir_fd=target_at)
    return 0


@system_call("link")
def link(p: Process, old: int, new: int) -> int:
    return _link(p, AT_FDCWD, old, AT_FDCWD, new, False)


@system_call("linkat")
def linkat(p: Process, old_directory: int, old: int, new_directory: int, new: int, flags: int) -> int:
    if int32(flags) & ~AT_SYMLINK_FOLLOW:
        fail(errno.EINVAL)
    return _link(p, int32(old_directory), old, int32(new_directory), new, bool(flags & AT_SYMLINK_FOLLOW))


def _link(p: Process, old_directory: int, old: int, new_directory: int, new: int, follow: bool) -> int:
    source, source_at = p.paths.resolve(p.files, old_directory, p.user.path(old), follow)
    target, target_at = p.paths.resolve(p.files, new_directory, p.user.path(new), follow=False)
    os.link(source, target, src_dir_fd=source_at, dst_dir_fd=target_at, follow_symlinks=follow)
    return 0


@system_call("symlink")
def symlink(p: Process, target: int, path: int) -> int:
    return _symlink(p, target, AT_FDCWD, path)


@system_call("symlinkat")
def symlinkat(p: Process, target: int, directory: int, path: int) -> int:
    return _symlink(p, target, int32(directory), path)


def _symlink(p: Process, target: int, directory: int, path: int) -> int:
    name, at = p.paths.resolve(p.files, directory, p.user.path(path), follow=False)
    os.symlink(p.user.path(target), name, dir_fd=at)
    return 0


@system_call("readlink")
def readlink(p: Process, path: int, buffer: int, size: int) -> int:
    return _readlink(p, AT_FDCWD, path, buffer, size)


@system_call("readlinkat")
def readlinkat(p: Process, directory: int, path: int, buffer: int, size: int) -> int:
    return _readlink(p, int32(directory), path, buffer, size)


def _readlink(p: Process, directory: int, path: int, buffer: int, size: int) -> int:
    if int32(size) <= 0:
        fail(errno.EINVAL)
    given = p.user.path(path)
    own = p.paths.own_proc(given)
    if own == b"exe":
        target = p.paths.sysroot.guest_path(p.paths.program)
    elif own == b"cwd":
        target = p.paths.working_directory()
    elif own is not None and own.startswith(b"fd/") and own[3:].isdigit():
        target = os.readlink(b"/proc/self/fd/%d" % p.files.host(int(own[3:])))
    else:
        name, at = p.paths.resolve(p.files, directory, given, follow=False)
        target = os.readlink(name, dir_fd=at)
    data = target[: min(int32(size), MAX_PATH_BYTES)]
    p.user.write(buffer, data)
    return len(data)
