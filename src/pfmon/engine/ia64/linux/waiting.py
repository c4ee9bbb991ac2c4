"""Waiting: what happens while a program sleeps or waits for input.

Guest time that passes without input from outside is skipped, not waited for. Waiting for the host's files
takes real time, but no longer than until the program's timer expires, or until the run is stopped.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import stat

from pfmon.engine.ia64.linux.errors import Interrupted, Restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pfmon.engine.ia64.linux.files import OpenFile
    from pfmon.engine.ia64.linux.process import Process

MILLISECOND = 1_000_000
BETWEEN_ATTEMPTS = 5 * MILLISECOND
SHORTEST = 2 * MILLISECOND
"""The host's poll counts milliseconds: it does not wait for less than so long with less than half too much."""


def sleep(process: Process, nanoseconds: int | None) -> bool:
    """Sleep so long (None: until a signal comes). True if a signal ended it."""
    clock = process.clock
    deadline = None if nanoseconds is None else clock.monotonic() + nanoseconds
    while True:
        process.fire_timers()
        if process.signals.interrupting():
            return True
        left = None if deadline is None else deadline - clock.monotonic()
        if left is not None and left <= 0:
            return False
        timer = process.timers.real_time_left()
        if left is None and timer is None:
            process.notice("the program waits for a signal that only another process could send")
            _host_poll(process, {}, None)
        else:
            _pass(process, min(t for t in (left, timer) if t is not None) or 1)


def _pass(process: Process, nanoseconds: int) -> None:
    """Let time pass without executing, all of it or a good part; it takes the host's time only if this is seen."""
    if not process.clock.is_host:
        process.clock.account(nanoseconds)
    elif nanoseconds < SHORTEST:
        process.clock.rest(nanoseconds)
    else:
        _host_poll(process, {}, nanoseconds // MILLISECOND)


def _host_poll(process: Process, wanted: dict[int, int], milliseconds: int | None) -> dict[int, int]:
    """The host's poll(2) on {descriptor: events}. Raises Interrupted when the run is stopped meanwhile."""
    poller = select.poll()
    poller.register(process.wakeup.descriptor, select.POLLIN)
    for host, events in wanted.items():
        poller.register(host, events)
    ready = dict(poller.poll(milliseconds))
    if process.wakeup.descriptor in ready:
        raise Interrupted
    return ready


def poll(process: Process, files: list[tuple[int, int]], nanoseconds: int | None) -> dict[int, int]:
    """Wait for events of poll(2) on [(host descriptor, events)]; None waits without end.

    Returns {host descriptor: events that came}, empty when the time is over. Raises Restart if a signal comes
    first, Interrupted if the run is stopped. Only time that passes without input counts for the program.
    """
    wanted: dict[int, int] = {}
    for host, events in files:
        wanted[host] = wanted.get(host, 0) | events
    process.fire_timers()
    ready = _host_poll(process, wanted, 0)
    while not ready and nanoseconds != 0:
        if process.signals.interrupting():
            raise Restart
        if not wanted:
            if sleep(process, nanoseconds):
                raise Restart
            break
        timer = process.timers.real_time_left()
        wait = min((t for t in (nanoseconds, timer) if t is not None), default=None)
        ready = _host_poll(process, wanted, None if wait is None else -(-wait // MILLISECOND))
        if not ready and wait is not None:
            process.clock.account(wait)
            nanoseconds = None if nanoseconds is None else nanoseconds - wait
        process.fire_timers()
    return ready


def _blocks(file: OpenFile, access: int) -> bool:
    """Whether reading (O_RDONLY) or writing (O_WRONLY) may have to wait for the other side of a file."""
    if not file.may_wait:
        return False
    flags = fcntl.fcntl(file.host, fcntl.F_GETFL)
    return not flags & os.O_NONBLOCK and flags & os.O_ACCMODE in (access, os.O_RDWR)


def until_readable(process: Process, file: OpenFile) -> None:
    """Before a read that may block: let the program's timer run, and let the run be stopped."""
    if _blocks(file, os.O_RDONLY):
        poll(process, [(file.host, select.POLLIN)], None)


def write(process: Process, file: OpenFile, data: bytes) -> int:
    """Write all; less where the host takes no more. To a full pipe it goes page by page: a pipe that poll calls
    writable has room for one, so that the host's write does not wait."""
    if not _blocks(file, os.O_WRONLY):
        return file.write(data)
    piece = select.PIPE_BUF if stat.S_ISFIFO(os.fstat(file.host).st_mode) else len(data)
    done = 0
    try:
        while done < len(data):
            poll(process, [(file.host, select.POLLOUT)], None)
            part = data[done : done + piece]
            written = file.write(part)
            done += written
            if written < len(part):
                break
    except (OSError, Restart):
        if not done:
            raise
    return done


def until_granted(process: Process, attempt: Callable[[], bytes | int | None]) -> None:
    """Try for a lock that others hold until ``attempt`` succeeds: EAGAIN or EACCES is for once more."""
    while True:
        try:
            attempt()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
        else:
            return
        process.fire_timers()
        if process.signals.interrupting():
            raise Restart
        _host_poll(process, {}, BETWEEN_ATTEMPTS // MILLISECOND)
