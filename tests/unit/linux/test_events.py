"""epoll, eventfd, timerfd, signalfd, inotify: what they say, and when, in guest time."""

import errno
import os
import struct
from pathlib import Path
from typing import Any

import pytest

NONBLOCK, CLOEXEC = 0o4000, 0o2000000
IN, OUT, HUP, ONESHOT, EDGE = 1, 4, 16, 1 << 30, 1 << 31
ADD, DEL, MOD = 1, 2, 3
SECOND = 10**9


def pipe(guest: Any) -> tuple[int, int]:
    assert guest.call("pipe2", guest.scratch + 0x900, 0) == 0
    return struct.unpack("<2i", guest.get(8, 0x900))


def watch(guest: Any, poll: int, operation: int, fd: int, events: int, data: int = 0) -> int:
    result: int = guest.call("epoll_ctl", poll, operation, fd, guest.put(struct.pack("<I4xQ", events, data), 0x700))
    return result


def wait(guest: Any, poll: int, milliseconds: int = 0) -> list[tuple[int, int]]:
    count = guest.call("epoll_wait", poll, guest.scratch + 0x4000, 8, milliseconds)
    assert count >= 0
    return [struct.unpack("<I4xQ", guest.get(16, 0x4000 + 16 * n)) for n in range(count)]


def test_epoll_gives_back_what_was_said(guest: Any) -> None:
    reader, writer = pipe(guest)
    poll = guest.call("epoll_create1", CLOEXEC)
    assert watch(guest, poll, ADD, reader, IN, 0x123456789ABCDEF0) == 0
    assert watch(guest, poll, ADD, reader, IN) == -errno.EEXIST
    assert watch(guest, poll, MOD, writer, OUT) == -errno.ENOENT
    assert watch(guest, poll, ADD, poll, IN) == -errno.EINVAL
    assert wait(guest, poll) == []
    guest.call("write", writer, guest.scratch, 3)
    assert wait(guest, poll) == wait(guest, poll) == [(IN, 0x123456789ABCDEF0)]
    assert watch(guest, poll, MOD, reader, IN | ONESHOT, 7) == 0
    assert wait(guest, poll) == [(IN, 7)] and wait(guest, poll) == []
    watch(guest, poll, MOD, reader, IN | EDGE, 8)
    assert wait(guest, poll) == [(IN, 8)] and wait(guest, poll) == []
    guest.call("write", writer, guest.scratch, 1)
    assert wait(guest, poll) == [(IN, 8)]
    guest.call("close", writer)
    assert wait(guest, poll) == [(IN | HUP, 8)]
    assert watch(guest, poll, DEL, reader, 0) == 0 and wait(guest, poll) == []
    assert guest.call("epoll_ctl", 0, ADD, reader, guest.scratch) == -errno.EINVAL
    assert guest.call("epoll_wait", poll, guest.scratch, 0, 0) == -errno.EINVAL


def test_epoll_waits_in_guest_time(guest: Any) -> None:
    poll = guest.call("epoll_create", 1)
    before = guest.process.system.slept
    assert wait(guest, poll, 5000) == []
    assert guest.process.system.slept - before == pytest.approx(5 * SECOND, abs=1e6)


def test_eventfd_adds_up(guest: Any) -> None:
    fd = guest.call("eventfd2", 3, NONBLOCK)
    guest.call("write", fd, guest.put(struct.pack("<Q", 4)), 8)
    assert guest.call("read", fd, guest.scratch, 8) == 8 and guest.words(1) == (7,)
    assert guest.call("read", fd, guest.scratch, 8) == -errno.EAGAIN
    one = guest.call("eventfd2", 2, NONBLOCK | 1)  # EFD_SEMAPHORE
    assert [guest.call("read", one, guest.scratch, 8) for _ in range(3)] == [8, 8, -errno.EAGAIN]


def timer(guest: Any, fd: int, interval: int, value: int, flags: int = 0) -> int:
    fields = (interval // SECOND, interval % SECOND, value // SECOND, value % SECOND)
    result: int = guest.call("timerfd_settime", fd, flags, guest.put(struct.pack("<4q", *fields)), 0)
    return result


def test_a_timer_counts_its_times_in_guest_time(guest: Any) -> None:
    fd = guest.call("timerfd_create", 1, NONBLOCK)
    assert timer(guest, fd, 10 * SECOND, 30 * SECOND) == 0
    assert guest.call("read", fd, guest.scratch, 8) == -errno.EAGAIN
    guest.call("nanosleep", guest.put(struct.pack("<2q", 55, 0)), 0)
    assert guest.call("read", fd, guest.scratch, 8) == 8 and guest.words(1) == (3,)  # at 30, 40 and 50
    assert guest.call("timerfd_gettime", fd, guest.scratch) == 0
    assert struct.unpack("<4q", guest.get(32))[:3] in ((10, 0, 5), (10, 0, 4))
    assert timer(guest, fd, 0, 0) == 0
    guest.call("timerfd_gettime", fd, guest.scratch)
    assert struct.unpack("<4q", guest.get(32)) == (0, 0, 0, 0)
    assert timer(guest, fd, 0, -SECOND) == -errno.EINVAL
    assert guest.call("timerfd_create", 99, 0) == -errno.EINVAL


def test_reading_a_timer_waits_for_it_and_poll_sees_it(guest: Any) -> None:
    fd = guest.call("timerfd_create", 1, 0)
    timer(guest, fd, 0, 7 * SECOND)
    before = guest.process.system.slept
    assert guest.call("read", fd, guest.scratch, 8) == 8 and guest.words(1) == (1,)
    assert guest.process.system.slept - before == pytest.approx(7 * SECOND, abs=1e6)
    timer(guest, fd, 0, 3 * SECOND)
    guest.put(struct.pack("<ihh", fd, IN, 0), 0x800)
    assert guest.call("poll", guest.scratch + 0x800, 1, 60_000) == 1
    assert guest.process.system.slept - before == pytest.approx(10 * SECOND, abs=1e6)
    real = guest.call("timerfd_create", 0, 0)
    assert timer(guest, real, 0, (1_767_225_600 + 100) * SECOND, 1) == 0  # TFD_TIMER_ABSTIME
    assert guest.call("read", real, guest.scratch, 8) == 8
    assert guest.process.system.slept == pytest.approx(100 * SECOND, abs=1e6)


def test_signals_are_read_in_order_and_do_not_run_handlers(guest: Any) -> None:
    mask = 1 << 9 | 1 << 11  # SIGUSR1, SIGUSR2
    guest.call("rt_sigprocmask", 0, guest.put(struct.pack("<Q", mask)), 0, 8)
    fd = guest.call("signalfd4", -1, guest.put(struct.pack("<Q", mask)), 8, NONBLOCK)
    assert guest.call("read", fd, guest.scratch, 128) == -errno.EAGAIN
    for number in (12, 10, 10):
        assert guest.call("kill", 1000, number) == 0
    guest.put(struct.pack("<ihh", fd, IN, 0), 0x800)
    assert guest.call("poll", guest.scratch + 0x800, 1, 0) == 1
    assert guest.call("read", fd, guest.scratch, 1000) == 256
    assert [struct.unpack_from("<IiiII", guest.get(256), 128 * n)[::3] for n in range(2)] == [(10, 1000), (12, 1000)]
    assert guest.call("poll", guest.scratch + 0x800, 1, 0) == 0
    assert guest.call("read", fd, guest.scratch, 100) == -errno.EINVAL
    assert guest.call("signalfd4", fd, guest.put(struct.pack("<Q", 1 << 9)), 8, 0) == fd
    assert guest.call("signalfd4", 0, guest.scratch, 8, 0) == -errno.EINVAL


def test_changes_of_a_directory_are_told(guest: Any, tmp_path: Path) -> None:
    fd = guest.call("inotify_init1", NONBLOCK)
    wd = guest.call("inotify_add_watch", fd, guest.text(tmp_path), 0x100)  # IN_CREATE
    assert wd > 0 and guest.call("read", fd, guest.scratch, 100) == -errno.EAGAIN
    guest.call("close", guest.open(tmp_path / "new", os.O_CREAT | os.O_WRONLY))
    assert guest.call("read", fd, guest.scratch, 100) == 32
    found, mask, _, length = struct.unpack("<iIII", guest.get(16))
    assert (found, mask, guest.get(length, 16).rstrip(b"\0")) == (wd, 0x100, b"new")
    assert guest.call("inotify_rm_watch", fd, wd) == 0
    assert guest.call("inotify_rm_watch", fd, wd) == -errno.EINVAL
    assert guest.call("inotify_add_watch", fd, guest.text(tmp_path / "none"), 2) == -errno.ENOENT
