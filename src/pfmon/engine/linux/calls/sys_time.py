"""Clocks, sleeping, interval timers."""

from __future__ import annotations

import errno

from pfmon.engine.linux.abi.structures import ITIMERSPEC, ITIMERVAL, TIMESPEC, TIMEVAL, TIMEZONE, TMS
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process import blocking_calls
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.time.clock import SECOND
from pfmon.engine.linux.time.countdown import Countdown
from pfmon.engine.linux.time.interval_timers import SIGNAL_OF

CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS, CLOCK_THREAD, CLOCK_RAW = range(5)
CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME = 5, 6, 7
CLOCK_TAI = 11
REAL = (CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI)
MONOTONIC = (CLOCK_MONOTONIC, CLOCK_RAW, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME)
TIMER_ABSTIME = 1
MICROSECOND = 1000
MAX_SECONDS = (1 << 63) // SECOND  # seconds


def _now(p: Process, clock: int) -> int:
    if clock in REAL:
        return p.clock.realtime()
    if clock in MONOTONIC:
        return p.clock.monotonic()
    if clock == CLOCK_PROCESS:
        return p.clock.processor()
    if clock == CLOCK_THREAD:
        return p.time_of(p.thread)
    return fail(errno.EINVAL)


@system_call("clock_gettime")
def clock_gettime(p: Process, clock: int, address: int) -> int:
    now = _now(p, int32(clock))
    p.user.pack(TIMESPEC, address, now // SECOND, now % SECOND)
    return 0


@system_call("clock_getres")
def clock_getres(p: Process, clock: int, address: int) -> int:
    _now(p, int32(clock))
    if address:
        p.user.pack(TIMESPEC, address, 0, 1)
    return 0


@system_call("gettimeofday")
def gettimeofday(p: Process, address: int, zone: int) -> int:
    now = p.clock.realtime()
    if address:
        p.user.pack(TIMEVAL, address, now // SECOND, now % SECOND // MICROSECOND)
    if zone:
        p.user.pack(TIMEZONE, zone, 0, 0)
    return 0


@system_call("times")
def times(p: Process, address: int) -> int:
    """Clock ticks: of user time in the buffer, since boot as the result."""
    if address:
        own, children = p.clock.processor(), p.family.used_by_children
        p.user.pack(TMS, address, own * p.abi.clock_ticks // SECOND, 0, children * p.abi.clock_ticks // SECOND, 0)
    return p.clock.monotonic() * p.abi.clock_ticks // SECOND


def duration(p: Process, address: int) -> int:
    """A struct timespec in nanoseconds; EINVAL for an invalid one."""
    seconds, ns = p.user.unpack(TIMESPEC, address)
    if seconds < 0 or not 0 <= ns < SECOND:
        fail(errno.EINVAL)
    return int(min(seconds, MAX_SECONDS) * SECOND + ns)


def read_setting(p: Process, address: int) -> tuple[int, int]:
    """Interval and value of a struct itimerspec, in nanoseconds; EINVAL for an invalid one."""
    fields = p.user.unpack(ITIMERSPEC, address)
    if any(s < 0 or not 0 <= ns < SECOND for s, ns in (fields[:2], fields[2:])):
        fail(errno.EINVAL)
    interval, value = (min(s, MAX_SECONDS) * SECOND + ns for s, ns in (fields[:2], fields[2:]))
    return interval, value


def write_setting(p: Process, timer: Countdown, address: int) -> None:
    """Write a timer's setting as a struct itimerspec."""
    interval, left = timer.get()
    p.user.pack(ITIMERSPEC, address, interval // SECOND, interval % SECOND, left // SECOND, left % SECOND)


def _sleep(p: Process, nanoseconds: int, left_at: int) -> int:
    _, deadline = blocking_calls.begun(p, nanoseconds)
    assert deadline is not None
    if blocking_calls.sleep(p, nanoseconds):
        left = max(0, deadline - p.clock.monotonic())
        if left_at:
            p.user.pack(TIMESPEC, left_at, left // SECOND, left % SECOND)
        fail(errno.EINTR)
    return 0


@system_call("nanosleep")
def nanosleep(p: Process, request: int, left: int) -> int:
    return _sleep(p, duration(p, request), left)


@system_call("clock_nanosleep")
def clock_nanosleep(p: Process, clock: int, flags: int, request: int, left: int) -> int:
    number = int32(clock)
    if number not in (*REAL, *MONOTONIC, CLOCK_PROCESS):
        fail(errno.EINVAL)
    wanted = duration(p, request)
    if int32(flags) & TIMER_ABSTIME:
        return _sleep(p, max(0, wanted - _now(p, number)), 0)
    return _sleep(p, wanted, left)


def _microseconds(seconds: int, micro: int) -> int:
    if seconds < 0 or not 0 <= micro < 1_000_000:
        fail(errno.EINVAL)
    return min(seconds, MAX_SECONDS) * SECOND + micro * MICROSECOND


def _write_timer(p: Process, which: int, address: int) -> None:
    interval, value = p.timers.get(which)
    value = max(value, MICROSECOND) if value else 0
    p.user.pack(
        ITIMERVAL,
        address,
        interval // SECOND,
        interval % SECOND // MICROSECOND,
        value // SECOND,
        value % SECOND // MICROSECOND,
    )


def _which(value: int) -> int:
    return value if value in SIGNAL_OF else fail(errno.EINVAL)


@system_call("getitimer")
def getitimer(p: Process, which: int, address: int) -> int:
    _write_timer(p, _which(int32(which)), address)
    return 0


@system_call("setitimer")
def setitimer(p: Process, which: int, new: int, old: int) -> int:
    number = _which(int32(which))
    fields = p.user.unpack(ITIMERVAL, new) if new else (0, 0, 0, 0)
    interval, value = _microseconds(*fields[:2]), _microseconds(*fields[2:])
    if old:
        _write_timer(p, number, old)
    p.timers.set(number, interval, value)
    return 0
