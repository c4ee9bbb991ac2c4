"""timer_create and related calls."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import partial
from struct import Struct

from pfmon.engine.linux.abi.structures import INT
from pfmon.engine.linux.calls.sys_time import (
    CLOCK_PROCESS,
    CLOCK_THREAD,
    MONOTONIC,
    REAL,
    TIMER_ABSTIME,
    read_setting,
    write_setting,
)
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.signal_table import LAST, SIGALRM
from pfmon.engine.linux.time.posix_timers import PosixTimer

SIGEVENT = Struct("<Q3i")  # value signo notify | thread, of 64 bytes
SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD_ID = 0, 1, 4
MAX_POSIX_TIMERS = 1024


def _clock(p: Process, clock: int) -> tuple[Callable[[], int], bool]:
    """The time of a clock, and whether the clock advances while no thread runs."""
    if clock in REAL:
        return p.clock.realtime, True
    if clock in MONOTONIC:
        return p.clock.monotonic, True
    if clock == CLOCK_PROCESS:
        return p.clock.processor, False
    if clock == CLOCK_THREAD:
        return partial(p.time_of, p.thread), False
    return fail(errno.EINVAL)


@system_call("timer_create")
def timer_create(p: Process, clock: int, event: int, result: int) -> int:
    now, real = _clock(p, int32(clock))
    if len(p.posix_timers) >= MAX_POSIX_TIMERS:
        fail(errno.EAGAIN)
    number = next(n for n in range(MAX_POSIX_TIMERS) if n not in p.posix_timers)
    value, signal, notify, thread = p.user.unpack(SIGEVENT, event) if event else (number, SIGALRM, SIGEV_SIGNAL, 0)
    target = None
    if notify & SIGEV_THREAD_ID:
        target = p.threads.get(thread) or fail(errno.EINVAL)
    if notify not in (SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD_ID) or not (notify == SIGEV_NONE or 0 < signal <= LAST):
        fail(errno.EINVAL)
    p.user.pack(INT, result, number)
    p.posix_timers[number] = PosixTimer(number, now, real, 0 if notify == SIGEV_NONE else signal, value, target)
    return 0


def _timer(p: Process, number: int) -> PosixTimer:
    return p.posix_timers.get(int32(number)) or fail(errno.EINVAL)


@system_call("timer_settime")
def timer_settime(p: Process, number: int, flags: int, new: int, old: int) -> int:
    timer = _timer(p, number)
    interval, value = read_setting(p, new)
    if old:
        write_setting(p, timer, old)
    timer.set(interval, value, bool(flags & TIMER_ABSTIME))
    return 0


@system_call("timer_gettime")
def timer_gettime(p: Process, number: int, address: int) -> int:
    write_setting(p, _timer(p, number), address)
    return 0


@system_call("timer_getoverrun")
def timer_getoverrun(p: Process, number: int) -> int:
    return min(_timer(p, number).overrun, (1 << 31) - 1)


@system_call("timer_delete")
def timer_delete(p: Process, number: int) -> int:
    _timer(p, number)
    del p.posix_timers[int32(number)]
    return 0
