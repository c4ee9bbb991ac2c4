"""Sockets: of the UNIX family and, on this machine, of the Internet families (--net allows other machines)."""

from __future__ import annotations

import ctypes
import errno
import os
import select

from pfmon.engine.linux.abi.structures import CMSGHDR, INT, MSGHDR, TIMESPEC, U32, U64
from pfmon.engine.linux.calls.sys_time import duration
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files import sockets
from pfmon.engine.linux.files.file_table import CHUNK, OpenFile
from pfmon.engine.linux.files.host_files import call, call_with_address
from pfmon.engine.linux.memory.user_memory import READ, WRITE, int32
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Restart, fail
from pfmon.engine.linux.process.thread import Blocked
from pfmon.engine.linux.signals.signal_table import SIGPIPE
from pfmon.engine.linux.signals.signals import SI_KERNEL
from pfmon.engine.linux.time.clock import SECOND

SOCK_NONBLOCK, SOCK_CLOEXEC, TYPE_MASK = 0o4000, 0o2000000, 0xF
MSG_OOB, MSG_CTRUNC, MSG_DONTWAIT, MSG_NOSIGNAL = 1, 8, 0x40, 0x4000
MSG_WAITFORONE, MSG_CMSG_CLOEXEC = 0x10000, 0x40000000
SOL_SOCKET, SCM_RIGHTS = 1, 1
MAX_OPTION_BYTES = 1024
MAX_PASSED_DESCRIPTORS = 253  # of one message (SCM_MAX_FD)
MAX_MESSAGES = 1024
MMSGHDR_SIZE = 64


def _check_kind(family: int, kind: int) -> None:
    if family not in sockets.FAMILIES:
        fail(errno.EAFNOSUPPORT)
    if kind & ~(TYPE_MASK | SOCK_NONBLOCK | SOCK_CLOEXEC) or kind & TYPE_MASK not in (1, 2, 5):
        fail(errno.EINVAL)


@system_call("socket")
def socket(p: Process, family: int, kind: int, protocol: int) -> int:
    _check_kind(int32(family), int32(kind))
    host = call("socket", int32(family), int32(kind) | SOCK_CLOEXEC, int32(protocol))
    inside = int32(family) == sockets.AF_UNIX
    return p.files.add(OpenFile(host, True, b"socket:", inside=inside), bool(kind & SOCK_CLOEXEC))


@system_call("socketpair")
def socketpair(p: Process, family: int, kind: int, protocol: int, address: int) -> int:
    _check_kind(int32(family), int32(kind))
    p.user.check_writable(address, 2 * INT.size)
    hosts = (ctypes.c_int * 2)()
    call("socketpair", int32(family), int32(kind) | SOCK_CLOEXEC, int32(protocol), hosts)
    for place, host in enumerate(hosts):
        number = p.files.add(OpenFile(host, True, b"socket:", inside=True), bool(kind & SOCK_CLOEXEC))
        p.user.pack(INT, address + place * INT.size, number)
    return 0


@system_call("bind")
def bind(p: Process, fd: int, address: int, length: int) -> int:
    given = sockets.for_host(p, sockets.read_address(p, address, int32(length)), True)
    with p.umask.creating():
        return call("bind", p.files.host(int32(fd)), given, len(given))


@system_call("connect")
def connect(p: Process, fd: int, address: int, length: int) -> int:
    file = p.files.get(int32(fd))
    if p.thread.wait is not None:  # the connection has begun
        blocking_calls.poll(p, [(file, select.POLLOUT)], None)
        error = ctypes.c_int()
        call("getsockopt", file.host, SOL_SOCKET, 4, ctypes.byref(error), ctypes.byref(ctypes.c_uint32(4)))
        return fail(error.value) if error.value else 0
    given = sockets.for_host(p, sockets.read_address(p, address, int32(length)), False)
    if not os.get_blocking(file.host):
        return call("connect", file.host, given, len(given))
    os.set_blocking(file.host, False)
    try:
        return call("connect", file.host, given, len(given))
    except BlockingIOError as error:
        if error.errno != errno.EINPROGRESS:
            raise
    finally:
        os.set_blocking(file.host, True)
    blocking_calls.poll(p, [(file, select.POLLOUT)], None)
    return 0


@system_call("listen")
def listen(p: Process, fd: int, backlog: int) -> int:
    return call("listen", p.files.host(int32(fd)), int32(backlog))


@system_call("accept")
def accept(p: Process, fd: int, address: int, length: int) -> int:
    return accept4(p, fd, address, length, 0) or 0


@system_call("accept4")
def accept4(p: Process, fd: int, address: int, length: int, flags: int) -> int:
    if int32(flags) & ~(SOCK_NONBLOCK | SOCK_CLOEXEC):
        fail(errno.EINVAL)
    file = p.files.get(int32(fd))
    if os.get_blocking(file.host):
        blocking_calls.poll(p, [(file, select.POLLIN)], None)
    host, peer = call_with_address("accept4", file.host, sockets.MAX_ADDRESS_BYTES, int32(flags) | SOCK_CLOEXEC)
    number = p.files.add(OpenFile(host, True, b"socket:", inside=file.inside), bool(flags & SOCK_CLOEXEC))
    _write_address(p, address, length, peer)
    return number


def _write_address(p: Process, address: int, length: int, found: bytes) -> None:
    if address:
        room = p.user.unpack(U32, length)[0]
        p.user.write(address, found[:room])
        p.user.pack(U32, length, len(found))


@system_call("getsockname")
def getsockname(p: Process, fd: int, address: int, length: int) -> int:
    _write_address(p, address, length, call_with_address("getsockname", p.files.host(int32(fd)))[1])
    return 0


@system_call("getpeername")
def getpeername(p: Process, fd: int, address: int, length: int) -> int:
    _write_address(p, address, length, call_with_address("getpeername", p.files.host(int32(fd)))[1])
    return 0


@system_call("shutdown")
def shutdown(p: Process, fd: int, how: int) -> int:
    return call("shutdown", p.files.host(int32(fd)), int32(how))


@system_call("setsockopt")
def setsockopt(p: Process, fd: int, level: int, name: int, value: int, length: int) -> int:
    size = int32(length)
    if not 0 <= size <= MAX_OPTION_BYTES:
        fail(errno.EINVAL)
    given = p.user.read(value, size)
    return call("setsockopt", p.files.host(int32(fd)), int32(level), int32(name), given, size)


@system_call("getsockopt")
def getsockopt(p: Process, fd: int, level: int, name: int, value: int, length: int) -> int:
    room = min(p.user.unpack(U32, length)[0], MAX_OPTION_BYTES)
    buffer, size = ctypes.create_string_buffer(room), ctypes.c_uint32(room)
    host = p.files.host(int32(fd))
    call("getsockopt", host, int32(level), int32(name), buffer, ctypes.byref(size))
    p.user.write(value, buffer.raw[: size.value])
    p.user.pack(U32, length, size.value)
    return 0


def _send(p: Process, file: OpenFile, data: bytes, flags: int, to: bytes, control: bytes = b"") -> int:
    """Send all of a stream's bytes, or one message; SIGPIPE when the other end is closed."""
    done = p.thread.done
    try:
        while True:
            if not flags & MSG_DONTWAIT and os.get_blocking(file.host):
                blocking_calls.poll(p, [(file, select.POLLOUT)], None)
            sent = _send_once(file.host, data[done:], flags | MSG_DONTWAIT | MSG_NOSIGNAL, to, control)
            done, control = done + sent, b""
            waits = not flags & MSG_DONTWAIT and os.get_blocking(file.host)
            if done >= len(data) or not waits or not sockets.is_stream(file.host):
                return done
    except Blocked:
        p.thread.done = done
        raise
    except BrokenPipeError:
        if done:
            return done
        if not flags & MSG_NOSIGNAL:
            p.send(p.own_signal(SIGPIPE, SI_KERNEL), p.thread)
        raise


def _send_once(host: int, data: bytes, flags: int, to: bytes, control: bytes) -> int:
    name = ctypes.create_string_buffer(to, len(to)) if to else None
    body = ctypes.create_string_buffer(data, max(1, len(data)))
    vector = ctypes.create_string_buffer(U64.pack(ctypes.addressof(body)) + U64.pack(len(data)))
    rights = ctypes.create_string_buffer(control, max(1, len(control)))
    header = MSGHDR.pack(
        ctypes.addressof(name) if name else 0,
        len(to),
        ctypes.addressof(vector),
        1,
        ctypes.addressof(rights) if control else 0,
        len(control),
        0,
    )
    return call("sendmsg", host, header, flags)


@system_call("sendto")
def sendto(p: Process, fd: int, buffer: int, count: int, flags: int, address: int, length: int) -> int:
    data = p.user.read(buffer, p.user.buffer(buffer, min(count, CHUNK), READ))
    to = sockets.for_host(p, sockets.read_address(p, address, int32(length)), False) if address else b""
    return _send(p, p.files.get(int32(fd)), data, int32(flags), to)


@system_call("send")
def send(p: Process, fd: int, buffer: int, count: int, flags: int) -> int:
    return sendto(p, fd, buffer, count, flags, 0, 0) or 0


def _receive(p: Process, file: OpenFile, count: int, flags: int, control: int = 0) -> tuple[bytes, bytes, bytes, int]:
    """Received bytes, sender, control data and flags."""
    if not flags & MSG_DONTWAIT and os.get_blocking(file.host):
        blocking_calls.poll(p, [(file, select.POLLIN)], None)
    name = ctypes.create_string_buffer(sockets.MAX_ADDRESS_BYTES)
    body = ctypes.create_string_buffer(max(1, count))
    rights = ctypes.create_string_buffer(max(1, control))
    vector = ctypes.create_string_buffer(U64.pack(ctypes.addressof(body)) + U64.pack(count))
    header = ctypes.create_string_buffer(
        MSGHDR.pack(
            *(ctypes.addressof(name), sockets.MAX_ADDRESS_BYTES, ctypes.addressof(vector), 1),
            *(ctypes.addressof(rights) if control else 0, control, 0),
        ),
        MSGHDR.size,
    )
    done = call("recvmsg", file.host, header, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC)
    _, name_length, _, _, _, control_length, found = MSGHDR.unpack(header.raw)
    return body.raw[: min(done, count)], name.raw[:name_length], rights.raw[:control_length], found


@system_call("recvfrom")
def recvfrom(p: Process, fd: int, buffer: int, count: int, flags: int, address: int, length: int) -> int:
    room = p.user.buffer(buffer, min(count, CHUNK), WRITE)
    data, sender, _, _ = _receive(p, p.files.get(int32(fd)), room, int32(flags))
    p.user.write(buffer, data)
    _write_address(p, address, length, sender)
    return len(data)


@system_call("recv")
def recv(p: Process, fd: int, buffer: int, count: int, flags: int) -> int:
    return recvfrom(p, fd, buffer, count, flags, 0, 0) or 0


@system_call("sendmsg")
def sendmsg(p: Process, fd: int, message: int, flags: int) -> int:
    name, name_length, vectors, count, control, control_length, _ = p.user.unpack(MSGHDR, message)
    to = sockets.for_host(p, sockets.read_address(p, name, name_length), False) if name and name_length else b""
    data = b"".join(p.user.read(base, length) for base, length in p.user.vectors(vectors, count))
    rights = _rights_for_host(p, p.user.read(control, min(control_length, 1 << 16))) if control else b""
    return _send(p, p.files.get(int32(fd)), data, int32(flags), to, rights)


def _rights_for_host(p: Process, control: bytes) -> bytes:
    """Control data with passed descriptors translated to the host's; other control data is dropped."""
    made, at = b"", 0
    while at + CMSGHDR.size <= len(control):
        length, level, kind = CMSGHDR.unpack_from(control, at)
        if length < CMSGHDR.size or at + length > len(control):
            fail(errno.EINVAL)
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            numbers = [int(n) for (n,) in INT.iter_unpack(control[at + CMSGHDR.size : at + length])]
            hosts = b"".join(INT.pack(p.files.host(number)) for number in numbers)
            made += (CMSGHDR.pack(CMSGHDR.size + len(hosts), level, kind) + hosts).ljust(_aligned(length), b"\0")
        at += _aligned(length)
    return made


def _aligned(length: int) -> int:
    return (length + U64.size - 1) & -U64.size


@system_call("recvmsg")
def recvmsg(p: Process, fd: int, message: int, flags: int) -> int:
    name, name_length, vectors, count, control, control_length, _ = p.user.unpack(MSGHDR, message)
    pieces = p.user.vectors(vectors, count)
    room = min(sum(length for _, length in pieces), CHUNK)
    for base, length in pieces:
        p.user.check_writable(base, length)
    data, sender, rights, found = _receive(
        p,
        p.files.get(int32(fd)),
        room,
        int32(flags),
        CMSGHDR.size + INT.size * MAX_PASSED_DESCRIPTORS if control else 0,
    )
    at = 0
    for base, length in pieces:
        p.user.write(base, data[at : at + length])
        at += length
    own, truncated = _rights_of_host(p, rights, control_length if control else 0, bool(flags & MSG_CMSG_CLOEXEC))
    if own:
        p.user.write(control, own)
    if name:
        p.user.write(name, sender[:name_length])
    fields = (name, len(sender), vectors, count, control, len(own), found & ~MSG_CMSG_CLOEXEC | truncated)
    p.user.pack(MSGHDR, message, *fields)
    return len(data)


def _rights_of_host(p: Process, control: bytes, room: int, close_on_exec: bool) -> tuple[bytes, int]:
    """Control data with received descriptors as the program's, and MSG_CTRUNC when not all fit."""
    made, truncated, at = b"", 0, 0
    while at + CMSGHDR.size <= len(control):
        length, level, kind = CMSGHDR.unpack_from(control, at)
        hosts = [int(n) for (n,) in INT.iter_unpack(control[at + CMSGHDR.size : at + length])]
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            fit = max(0, (room - len(made) - CMSGHDR.size) // INT.size)
            for host in hosts[fit:]:
                os.close(host)
                truncated = MSG_CTRUNC
            numbers = [p.files.add(OpenFile(host, True, b"passed:"), close_on_exec) for host in hosts[:fit]]
            if numbers:
                body = b"".join(INT.pack(number) for number in numbers)
                made += CMSGHDR.pack(CMSGHDR.size + len(body), level, kind) + body
        at += max(_aligned(length), CMSGHDR.size)
    return made, truncated


@system_call("sendmmsg")
def sendmmsg(p: Process, fd: int, vector: int, count: int, flags: int) -> int:
    done = 0
    for number in range(min(int32(count), MAX_MESSAGES)):
        at = vector + number * MMSGHDR_SIZE
        try:
            sent = sendmsg(p, fd, at, flags) or 0
        except (OSError, Blocked):
            if done:
                p.thread.done = 0
                return done
            raise
        p.user.pack(U32, at + MSGHDR.size, sent)
        done += 1
        p.thread.done = 0
    return done


@system_call("recvmmsg")
def recvmmsg(p: Process, fd: int, vector: int, count: int, flags: int, timeout: int) -> int:
    """Receive up to ``count`` messages. As in Linux, the timeout is checked only after each message (recvmmsg(2),
    BUGS). An error after the first message is reported by the next call."""
    most = min(int32(count), MAX_MESSAGES)
    nanoseconds = duration(p, timeout) if timeout else None
    began, _ = blocking_calls.begun(p, None)
    one_by_one = flags & ~MSG_WAITFORONE
    done = p.thread.done
    try:
        while done < most:
            wanted = one_by_one | (MSG_DONTWAIT if done and flags & MSG_WAITFORONE else 0)
            at = vector + done * MMSGHDR_SIZE
            p.user.pack(U32, at + MSGHDR.size, recvmsg(p, fd, at, wanted) or 0)
            done += 1
            if p.user.unpack(MSGHDR, at)[-1] & MSG_OOB or _is_over(p, began, nanoseconds):
                break
    except Blocked:
        p.thread.done = done
        raise
    except (OSError, Restart):
        if not done:
            raise
    if timeout and done:
        left = max(0, (nanoseconds or 0) - (p.clock.monotonic() - began))
        p.user.pack(TIMESPEC, timeout, left // SECOND, left % SECOND)
    return done


def _is_over(p: Process, began: int, nanoseconds: int | None) -> bool:
    return nanoseconds is not None and p.clock.monotonic() - began >= nanoseconds
