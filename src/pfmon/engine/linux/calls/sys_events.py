"""Files that report events: epoll, eventfd, timerfd, signalfd, inotify."""

from __future__ import annotations

import errno
import os
import select

from pfmon.engine.linux.abi.structures import U64
from pfmon.engine.linux.calls.sys_time import TIMER_ABSTIME, read_setting, write_setting
from pfmon.engine.linux.calls.sys_waiting import change_mask
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.files.event_files import SignalFile, TimerFile
from pfmon.engine.linux.files.file_table import OpenFile
from pfmon.engine.linux.files.open_flags import AT_FDCWD
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import Restart, fail
from pfmon.engine.linux.signals.signals import UNBLOCKABLE

NONBLOCK, CLOEXEC, SEMAPHORE = 0o4000, 0o2000000, 1
EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD = 1, 2, 3
MAX_layoutS = 1 << 16
IN_DONT_FOLLOW = 0x02000000
MILLISECOND = 1_000_000
CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME = 0, 1, 7
TFD_TIMER_CANCEL_ON_SET = 2  # the clock is never set
SIGSET_SIZE = 8


def _flags(flags: int, others: int = 0) -> int:
    if int32(flags) & ~(NONBLOCK | CLOEXEC | others):
        fail(errno.EINVAL)
    return int32(flags)


class EventPoll(OpenFile):
    """epoll: the host's, on the host's descriptors; the program's data of each descriptor is kept here."""

    def __init__(self) -> None:
        self.poll = select.epoll()
        super().__init__(self.poll.fileno(), True, b"anon_inode:[eventpoll]", inside=True)
        self.files: dict[int, tuple[OpenFile, int]] = {}

    def release(self) -> None:
        self.references -= 1
        if not self.references:
            self.poll.close()


@system_call("epoll_create")
def epoll_create(p: Process, size: int) -> int:
    if int32(size) <= 0:
        fail(errno.EINVAL)
    return p.files.add(EventPoll())


@system_call("epoll_create1")
def epoll_create1(p: Process, flags: int) -> int:
    return p.files.add(EventPoll(), bool(_flags(flags) & CLOEXEC))


def _event_poll(p: Process, fd: int) -> EventPoll:
    file = p.files.get(int32(fd))
    return file if isinstance(file, EventPoll) else fail(errno.EINVAL)


@system_call("epoll_ctl")
def epoll_ctl(p: Process, fd: int, operation: int, target: int, event: int) -> int:
    own, file = _event_poll(p, fd), p.files.get(int32(target))
    if file is own:
        fail(errno.EINVAL)
    what = int32(operation)
    if what == EPOLL_CTL_DEL:
        own.poll.unregister(file.host)
        own.files.pop(file.host, None)
        return 0
    events, data = p.user.unpack(p.abi.epoll_event, event)
    if what == EPOLL_CTL_ADD:
        own.poll.register(file.host, events)
    elif what == EPOLL_CTL_MOD:
        own.poll.modify(file.host, events)
    else:
        fail(errno.EINVAL)
    own.files[file.host] = (file, data)
    return 0


def _wait(p: Process, fd: int, events: int, count: int, nanoseconds: int | None) -> int:
    own, room = _event_poll(p, fd), int32(count)
    layout = p.abi.epoll_event
    if not 0 < room <= MAX_layoutS:
        fail(errno.EINVAL)
    p.user.check_writable(events, room * layout.size)
    own.inside = all(file.inside for file, _ in own.files.values())
    try:
        ready = blocking_calls.poll(p, [(own, select.POLLIN)], nanoseconds)
    except Restart:
        fail(errno.EINTR)
    found = own.poll.poll(0, room) if ready else []
    for place, (host, mask) in enumerate(found):
        p.user.pack(layout, events + place * layout.size, mask, own.files[host][1])
    return len(found)


@system_call("epoll_wait")
def epoll_wait(p: Process, fd: int, events: int, count: int, timeout: int) -> int:
    milliseconds = int32(timeout)
    return _wait(p, fd, events, count, None if milliseconds < 0 else milliseconds * MILLISECOND)


@system_call("epoll_pwait")
def epoll_pwait(p: Process, fd: int, events: int, count: int, timeout: int, mask: int, size: int) -> int:
    change_mask(p, mask, size)
    return epoll_wait(p, fd, events, count, timeout) or 0


@system_call("eventfd")
def eventfd(p: Process, value: int) -> int:
    return eventfd2(p, value, 0) or 0


@system_call("eventfd2")
def eventfd2(p: Process, value: int, flags: int) -> int:
    wanted = _flags(flags, SEMAPHORE)
    host = os.eventfd(value & 0xFFFFFFFF, wanted | os.EFD_CLOEXEC)
    return p.files.add(OpenFile(host, True, b"anon_inode:[eventfd]", inside=True), bool(wanted & CLOEXEC))


@system_call("timerfd_create")
def timerfd_create(p: Process, clock: int, flags: int) -> int:
    if int32(clock) not in (CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME):
        fail(errno.EINVAL)
    wanted = _flags(flags)
    file = TimerFile(p.system, int32(clock) == CLOCK_REALTIME, not wanted & NONBLOCK)
    return p.files.add(file, bool(wanted & CLOEXEC))


def _timer(p: Process, fd: int) -> TimerFile:
    file = p.files.get(int32(fd))
    return file if isinstance(file, TimerFile) else fail(errno.EINVAL)


@system_call("timerfd_settime")
def timerfd_settime(p: Process, fd: int, flags: int, new: int, old: int) -> int:
    file = _timer(p, fd)
    interval, value = read_setting(p, new)
    if int32(flags) & ~(TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET):
        fail(errno.EINVAL)
    if old:
        write_setting(p, file.timer, old)
    file.set(interval, value, bool(flags & TIMER_ABSTIME))
    return 0


@system_call("timerfd_gettime")
def timerfd_gettime(p: Process, fd: int, address: int) -> int:
    write_setting(p, _timer(p, fd).timer, address)
    return 0


@system_call("signalfd")
def signalfd(p: Process, fd: int, mask: int, size: int) -> int:
    return signalfd4(p, fd, mask, size, 0) or 0


@system_call("signalfd4")
def signalfd4(p: Process, fd: int, mask: int, size: int, flags: int) -> int:
    wanted = _flags(flags)
    if size != SIGSET_SIZE:
        fail(errno.EINVAL)
    signals = p.user.unpack(U64, mask)[0] & ~UNBLOCKABLE
    if int32(fd) == -1:
        return p.files.add(SignalFile(p, signals, not wanted & NONBLOCK), bool(wanted & CLOEXEC))
    file = p.files.get(int32(fd))
    if not isinstance(file, SignalFile):
        fail(errno.EINVAL)
    file.mask = signals
    file.update_readiness()
    return int32(fd)


@system_call("inotify_init")
def inotify_init(p: Process) -> int:
    return inotify_init1(p, 0) or 0


@system_call("inotify_init1")
def inotify_init1(p: Process, flags: int) -> int:
    from pfmon.engine.linux.files.host_files import call

    wanted = _flags(flags)
    file = OpenFile(call("inotify_init1", wanted | CLOEXEC), True, b"anon_inode:inotify")
    return p.files.add(file, bool(wanted & CLOEXEC))


@system_call("inotify_add_watch")
def inotify_add_watch(p: Process, fd: int, path: int, mask: int) -> int:
    from pfmon.engine.linux.files.host_files import call

    name = p.paths.host_name(p.files, AT_FDCWD, p.user.path(path), follow=not mask & IN_DONT_FOLLOW)
    return call("inotify_add_watch", p.files.host(int32(fd)), name, mask & 0xFFFFFFFF)


@system_call("inotify_rm_watch")
def inotify_rm_watch(p: Process, fd: int, watch: int) -> int:
    from pfmon.engine.linux.files.host_files import call

    return call("inotify_rm_watch", p.files.host(int32(fd)), int32(watch))
