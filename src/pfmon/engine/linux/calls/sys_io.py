"""Reading and writing: read, write and related calls."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from pfmon.engine.linux.abi.structures import INT, U64
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.file_table import CHUNK, OpenFile
from pfmon.engine.linux.memory.user_memory import MAX_TRANSFER_BYTES, READ, WRITE, int32, signed
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Restart, fail
from pfmon.engine.linux.process.thread import Blocked
from pfmon.engine.linux.signals.signal_table import SIGPIPE
from pfmon.engine.linux.signals.signals import SI_KERNEL

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
Pieces = list[tuple[int, int]]  # (address, length) of parts of a buffer


def _usable(p: Process, vectors: Pieces, protection: int) -> Pieces:
    """The leading part of a scattered buffer that is accessible; EFAULT if there is none."""
    pieces: Pieces = []
    left = MAX_TRANSFER_BYTES
    for base, length in vectors:
        length = min(length, left)
        if not length:
            continue
        usable = p.user.prefix(base, length, protection)
        if usable:
            pieces.append((base, usable))
            left -= usable
        if usable < length:
            if not pieces:
                fail(errno.EFAULT)
            break
    return pieces


def _fill(p: Process, file: OpenFile, pieces: Pieces, offset: int | None) -> int:
    """Read into the parts of a buffer, from the file's position or from an offset."""
    p.mappings.before_access(file)
    count = sum(length for _, length in pieces)
    if offset is None:
        file.check_read(count)
        if count:
            blocking_calls.until_readable(p, file)
        data = file.read(count)
    else:
        data = _pread(file, count, offset)
    at = 0
    for base, length in pieces:
        if at >= len(data):
            break
        p.user.write(base, data[at : at + length])
        at += length
    return len(data)


def _pread(file: OpenFile, count: int, offset: int) -> bytes:
    parts: list[bytes] = []
    done = 0
    while done < count or not count:
        part = os.pread(file.host, min(CHUNK, count - done), offset + done)
        parts.append(part)
        done += len(part)
        if not part:
            break
    return b"".join(parts)


def _drain(p: Process, file: OpenFile, pieces: Pieces, offset: int | None) -> int:
    """Write the parts of a buffer, until the host accepts no more."""
    p.mappings.before_access(file)
    done = p.thread.done  # before it blocked
    try:
        if not pieces:
            return file.write(b"")
        for address, length in _chunks(pieces, done):
            data = p.user.read(address, length)
            written = (
                blocking_calls.write(p, file, data) if offset is None else os.pwrite(file.host, data, offset + done)
            )
            done += written
            if written < len(data):
                return done
    except Blocked as blocked:
        p.thread.done = done + blocked.wait.done
        raise
    except Restart:
        if not done:
            raise
    except BrokenPipeError:
        if not done:
            p.send(p.own_signal(SIGPIPE, SI_KERNEL), p.thread)
            raise
    except OSError:
        if not done:
            raise
    finally:
        if done:
            p.mappings.after_write(file)
    return done


def _chunks(pieces: Pieces, done: int) -> Iterator[tuple[int, int]]:
    """Addresses and lengths of the transfers after the first ``done`` bytes."""
    for base, length in pieces:
        for at in range(min(done, length), length, CHUNK):
            yield base + at, min(CHUNK, length - at)
        done = max(0, done - length)


def _buffer(p: Process, address: int, count: int, protection: int) -> Pieces:
    usable = p.user.buffer(address, count, protection)
    return [(address, usable)] if usable else []


def _offset(value: int) -> int:
    offset = signed(value)
    return offset if offset >= 0 else fail(errno.EINVAL)


@system_call("read")
def read(p: Process, fd: int, buffer: int, count: int) -> int:
    file = p.files.get(int32(fd))
    return _fill(p, file, _buffer(p, buffer, count, WRITE), None)


@system_call("write")
def write(p: Process, fd: int, buffer: int, count: int) -> int:
    file = p.files.get(int32(fd))
    return _drain(p, file, _buffer(p, buffer, count, READ), None)


@system_call("pread64")
def pread64(p: Process, fd: int, buffer: int, count: int, offset: int) -> int:
    file = p.files.get(int32(fd))
    return _fill(p, file, _buffer(p, buffer, count, WRITE), _offset(offset))


@system_call("pwrite64")
def pwrite64(p: Process, fd: int, buffer: int, count: int, offset: int) -> int:
    file = p.files.get(int32(fd))
    return _drain(p, file, _buffer(p, buffer, count, READ), _offset(offset))


@system_call("readv")
def readv(p: Process, fd: int, vectors: int, count: int) -> int:
    file = p.files.get(int32(fd))
    return _fill(p, file, _usable(p, p.user.vectors(vectors, int32(count)), WRITE), None)


@system_call("writev")
def writev(p: Process, fd: int, vectors: int, count: int) -> int:
    file = p.files.get(int32(fd))
    return _drain(p, file, _usable(p, p.user.vectors(vectors, int32(count)), READ), None)


@system_call("preadv")
def preadv(p: Process, fd: int, vectors: int, count: int, offset: int) -> int:
    file = p.files.get(int32(fd))
    return _fill(p, file, _usable(p, p.user.vectors(vectors, int32(count)), WRITE), _offset(offset))


@system_call("pwritev")
def pwritev(p: Process, fd: int, vectors: int, count: int, offset: int) -> int:
    file = p.files.get(int32(fd))
    return _drain(p, file, _usable(p, p.user.vectors(vectors, int32(count)), READ), _offset(offset))


@system_call("sendfile")
def sendfile(p: Process, out: int, source: int, position: int, count: int) -> int:
    target, file = p.files.get(int32(out)), p.files.get(int32(source))
    p.mappings.before_access(file)
    at = _offset(p.user.unpack(U64, position)[0]) if position else os.lseek(file.host, 0, SEEK_CUR)
    done = 0
    count = min(count, MAX_TRANSFER_BYTES)
    while done < count:
        data = os.pread(file.host, min(CHUNK, count - done), at + done)
        try:
            written = blocking_calls.write(p, target, data) if data else 0
        except Blocked as blocked:
            written = blocked.wait.done
            if not done + written:
                raise
        done += written
        if not data or written < len(data):
            break
    if position:
        p.user.pack(U64, position, at + done)
    else:
        os.lseek(file.host, at + done, SEEK_SET)
    p.mappings.after_write(target)
    return done


@system_call("lseek")
def lseek(p: Process, fd: int, offset: int, whence: int) -> int:
    file = p.files.get(int32(fd))
    if file.entries is None:
        return os.lseek(file.host, signed(offset), int32(whence))
    base = {SEEK_SET: 0, SEEK_CUR: file.position}.get(int32(whence))
    if base is None or base + signed(offset) < 0:
        fail(errno.EINVAL)
    file.position = base + signed(offset)
    if file.position == 0:
        file.entries = None
    return file.position


@system_call("ftruncate")
def ftruncate(p: Process, fd: int, length: int) -> int:
    file = p.files.get(int32(fd))
    p.mappings.before_access(file)
    os.ftruncate(file.host, _offset(length))
    return 0


@system_call("fallocate")
def fallocate(p: Process, fd: int, mode: int, offset: int, length: int) -> int:
    host = p.files.host(int32(fd))
    if int32(mode):
        fail(errno.EOPNOTSUPP)
    os.posix_fallocate(host, _offset(offset), _offset(length))
    return 0


@system_call("fsync")
def fsync(p: Process, fd: int) -> int:
    os.fsync(p.files.host(int32(fd)))
    return 0


@system_call("fdatasync")
def fdatasync(p: Process, fd: int) -> int:
    os.fdatasync(p.files.host(int32(fd)))
    return 0


@system_call("sync")
def sync(p: Process) -> int:
    os.sync()
    return 0


@system_call("fadvise64", "readahead")
def fadvise64(p: Process, fd: int) -> int:
    """Advice, without a visible effect."""
    p.files.get(int32(fd))
    return 0


@system_call("pipe2")
def pipe2(p: Process, address: int, flags: int) -> int:
    p.user.check_writable(address, 2 * INT.size)
    reader, writer = new_pipe(p, int32(flags))
    p.user.pack(INT, address, reader)
    p.user.pack(INT, address + INT.size, writer)
    return 0


def new_pipe(p: Process, flags: int) -> tuple[int, int]:
    """The descriptors of both ends of a pipe."""
    if flags & ~(0o4000 | 0o2000000 | 0o40000):
        fail(errno.EINVAL)
    close_on_exec = bool(flags & 0o2000000)
    ends = os.pipe2(os.O_CLOEXEC | (os.O_NONBLOCK if flags & 0o4000 else 0))
    reader = OpenFile(ends[0], True, b"pipe:", inside=True)
    writer = OpenFile(ends[1], True, b"pipe:", inside=True)
    try:
        first = p.files.add(reader, close_on_exec)
    except OSError:
        os.close(ends[1])
        raise
    try:
        return first, p.files.add(writer, close_on_exec)
    except OSError:
        p.files.close(first)
        raise
