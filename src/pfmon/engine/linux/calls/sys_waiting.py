"""poll and select: waiting for files. Signals end them with EINTR, regardless of SA_RESTART."""

from __future__ import annotations

import errno
import select as host_select

from pfmon.engine.linux.abi.structures import POLLFD, TIMESPEC, TIMEVAL, U64, WORDS2
from pfmon.engine.linux.calls.sys_time import MICROSECOND, duration
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Restart, fail
from pfmon.engine.linux.time.clock import SECOND

POLLIN, POLLPRI, POLLOUT, POLLERR, POLLHUP, POLLNVAL = 1, 2, 4, 8, 16, 32
ALWAYS = POLLERR | POLLHUP
MILLISECOND = 1_000_000
MAX_POLLED_DESCRIPTORS = 1024
SIGSET_SIZE = 8
# Events by set of select (select(2)).
READABLE, WRITABLE, EXCEPTIONAL = POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI


def _wait(p: Process, files: list[tuple[OpenFile, int]], nanoseconds: int | None) -> dict[int, int]:
    try:
        return blocking_calls.poll(p, files, nanoseconds)
    except Restart:
        return fail(errno.EINTR)


def _poll(p: Process, address: int, count: int, nanoseconds: int | None) -> int:
    if not 0 <= count <= MAX_POLLED_DESCRIPTORS:
        fail(errno.EINVAL)
    size = count * POLLFD.size
    p.user.check_writable(address, size)
    entries = list(POLLFD.iter_unpack(p.user.read(address, size))) if count else []
    known = set(p.files.numbers())
    wanted = [(p.files.get(fd), events & 0xFFFF) for fd, events, _ in entries if fd in known]
    invalid = any(fd >= 0 and fd not in known for fd, _, _ in entries)
    ready = _wait(p, wanted, 0 if invalid else nanoseconds)
    found = 0
    data = b""
    for fd, events, _ in entries:
        got = POLLNVAL if fd >= 0 else 0
        if fd in known:
            got = ready.get(p.files.host(fd), 0) & (events & 0xFFFF | ALWAYS)
        found += got != 0
        data += POLLFD.pack(fd, events, got)
    p.user.write(address, data)
    return found


@system_call("poll")
def poll(p: Process, address: int, count: int, timeout: int) -> int:
    milliseconds = int32(timeout)
    return _poll(p, address, int32(count), None if milliseconds < 0 else milliseconds * MILLISECOND)


@system_call("ppoll")
def ppoll(p: Process, address: int, count: int, timeout: int, mask: int, mask_size: int) -> int:
    nanoseconds = duration(p, timeout) if timeout else None
    change_mask(p, mask, mask_size)
    before, _ = blocking_calls.begun(p, None)
    result = _poll(p, address, int32(count), nanoseconds)
    _write_left(p, timeout, nanoseconds, before)
    return result


def change_mask(p: Process, mask: int, size: int) -> None:
    """Set the signal mask during the call; it is restored when the call returns or its handler has run."""
    if mask and p.thread.wait is None:
        if size != SIGSET_SIZE:
            fail(errno.EINVAL)
        new = p.user.unpack(U64, mask)[0]
        p.signals.saved_mask = p.signals.blocked
        p.signals.set_blocked(new)


def _write_left(p: Process, address: int, nanoseconds: int | None, before: int) -> None:
    if address and nanoseconds is not None:
        left = max(0, nanoseconds - (p.clock.monotonic() - before))
        p.user.pack(TIMESPEC, address, left // SECOND, left % SECOND)


def _bits(p: Process, address: int, count: int) -> int:
    """A set of descriptors as an integer."""
    size = (count + 63) // 64 * 8
    return int.from_bytes(p.user.read(address, size), "little") & (1 << count) - 1 if address else 0


def _select(p: Process, count: int, sets: tuple[int, int, int], nanoseconds: int | None) -> int:
    if count < 0:
        fail(errno.EINVAL)
    count = min(count, MAX_POLLED_DESCRIPTORS)
    masks = [_bits(p, address, count) for address in sets]
    events = (
        host_select.POLLIN,
        host_select.POLLOUT,
        host_select.POLLPRI,
    )
    wanted = []
    for fd in range(count):
        asked = [e for m, e in zip(masks, events, strict=True) if m >> fd & 1]
        if asked:
            wanted.append((p.files.get(fd), sum(asked)))
    ready = _wait(p, wanted, nanoseconds)
    found = 0
    for mask, address, mark in zip(masks, sets, (READABLE, WRITABLE, EXCEPTIONAL), strict=True):
        result = 0
        for fd in range(count):
            if mask >> fd & 1 and ready.get(p.files.host(fd), 0) & mark:
                result |= 1 << fd
                found += 1
        if address:
            p.user.write(address, result.to_bytes((count + 63) // 64 * 8, "little"))
    return found


@system_call("select")
def select(p: Process, count: int, readable: int, writable: int, exceptional: int, timeout: int) -> int:
    nanoseconds = None
    if timeout:
        seconds, micro = p.user.unpack(TIMEVAL, timeout)
        if seconds < 0 or micro < 0:
            fail(errno.EINVAL)
        nanoseconds = seconds * SECOND + micro * MICROSECOND
    before, _ = blocking_calls.begun(p, None)
    result = _select(p, int32(count), (readable, writable, exceptional), nanoseconds)
    if nanoseconds is not None:
        left = max(0, nanoseconds - (p.clock.monotonic() - before))
        p.user.pack(TIMEVAL, timeout, left // SECOND, left % SECOND // MICROSECOND)
    return result


@system_call("pselect6")
def pselect6(p: Process, count: int, readable: int, writable: int, exceptional: int, timeout: int, mask: int) -> int:
    nanoseconds = duration(p, timeout) if timeout else None
    if mask:
        change_mask(p, *p.user.unpack(WORDS2, mask))
    before, _ = blocking_calls.begun(p, None)
    result = _select(p, int32(count), (readable, writable, exceptional), nanoseconds)
    _write_left(p, timeout, nanoseconds, before)
    return result
