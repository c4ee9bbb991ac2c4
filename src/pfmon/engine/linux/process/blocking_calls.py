"""Sleeping and waiting for input.

A call that waits raises Blocked: the scheduler runs other threads, or advances time, and the call is repeated when its
event may have arrived (thread.Wait). Guest time without input from outside is skipped, not waited for. Waiting for the
host's files takes real time, at most until the program's timer expires or the run is stopped.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import NoReturn

from pfmon.engine.linux.files import host_files
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Restart
from pfmon.engine.linux.process.thread import Blocked, Wait

POLLIN, POLLOUT = 1, 4
PIPE_BUF = 4096
"""Atomic write size and POLLOUT threshold of a pipe (pipe(7), poll(2))."""
BETWEEN_ATTEMPTS = 5_000_000
"""Nanoseconds between two attempts at a lock."""


def begun(process: Process, nanoseconds: int | None) -> tuple[int, int | None]:
    """The start of the running call, and the end of its wait (None: never), by the monotonic clock; set by the first of
    its repetitions."""
    wait = process.thread.wait
    if wait is not None:
        return wait.began, wait.deadline
    now = process.clock.monotonic()
    return now, None if nanoseconds is None else now + nanoseconds


def sleep(process: Process, nanoseconds: int | None, signals: int = 0) -> bool:
    """Sleep for a time (None: until a signal). True if a signal ended it, including blocked ones of ``signals``."""
    began, deadline = begun(process, nanoseconds)
    process.fire_timers()
    if process.signals.interrupting(signals):
        return True
    if deadline is not None and process.clock.monotonic() >= deadline:
        return False
    for_ever = process.system.threads == 1 and deadline is None and not process.has_timers
    if for_ever:
        process.notice("the program waits for a signal that only another process could send")
    text = "for a signal" if deadline is None else "for some time"
    raise Blocked(Wait(text, began=began, deadline=deadline, signals=signals, outside=for_ever))


def poll(process: Process, files: list[tuple[OpenFile, int]], nanoseconds: int | None) -> dict[int, int]:
    """Wait for events of poll(2) on [(open file, events)]; None waits without end.

    Returns {host descriptor: present events}, empty after a timeout. Raises Restart if a signal arrives first.
    Only time that passes without input counts for the program.
    """
    wanted: dict[int, int] = {}
    for file, events in files:
        file.before_poll()
        wanted[file.host] = wanted.get(file.host, 0) | events
    began, deadline = begun(process, nanoseconds)
    process.fire_timers()
    ready = host_files.events(wanted)
    if ready or nanoseconds == 0:
        return ready
    if process.signals.interrupting():
        raise Restart
    if deadline is not None and process.clock.monotonic() >= deadline:
        return {}
    outside = any(not file.inside for file, _ in files)
    raise Blocked(Wait("for a file", began=began, deadline=deadline, files=wanted, outside=outside))


def _blocks(file: OpenFile, access: int) -> bool:
    """Whether reading (O_RDONLY) or writing (O_WRONLY) may block on the other end of a file."""
    if not file.may_wait:
        return False
    flags = host_files.flags(file.host)
    return not flags & os.O_NONBLOCK and flags & os.O_ACCMODE in (access, os.O_RDWR)


def until_readable(process: Process, file: OpenFile) -> None:
    """Let other threads run before a read that may block; the run can be stopped meanwhile."""
    if _blocks(file, os.O_RDONLY):
        poll(process, [(file, POLLIN)], None)


def write(process: Process, file: OpenFile, data: bytes) -> int:
    """Write all bytes; fewer when the host accepts no more. Blocked has the number written before the wait. A full pipe
    is written page by page: poll reports it writable when one page fits, so the host's write does not block."""
    if not _blocks(file, os.O_WRONLY):
        return file.write(data)
    piece = PIPE_BUF if stat.S_ISFIFO(os.fstat(file.host).st_mode) else len(data)
    done = 0
    try:
        while done < len(data):
            poll(process, [(file, POLLOUT)], None)
            part = data[done : done + piece]
            written = file.write(part)
            done += written
            if written < len(part):
                break
    except Blocked as blocked:
        blocked.wait.done = done
        raise
    except (OSError, Restart):
        if not done:
            raise
    return done


def until_granted(process: Process, attempt: Callable[[], bytes | int | None]) -> None:
    """Try for a lock of other processes until ``attempt`` succeeds: EAGAIN or EACCES is a retry."""
    try:
        attempt()
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
    else:
        return
    come_again(process, "for a lock of a file")


def come_again(process: Process, text: str) -> NoReturn:
    """Repeat the call soon: the host does not signal its event."""
    process.fire_timers()
    if process.signals.interrupting():
        raise Restart
    raise Blocked(Wait(text, again_after=BETWEEN_ATTEMPTS, outside=True))
