"""timer_create: timers on several clocks, their signals, overruns and threads."""

import errno
import struct
from typing import Any

import pytest

SECOND = 10**9
USR1, ALRM, RT = 10, 14, 40
REAL, MONOTONIC, PROCESSOR, THREAD = 0, 1, 2, 3


def create(guest: Any, clock: int, signal: int = USR1, notify: int = 0, value: int = 0, thread: int = 0) -> int:
    event = guest.put(struct.pack("<Q3i", value, signal, notify, thread).ljust(64, b"\0"), 0x600)
    result = guest.call("timer_create", clock, event, guest.scratch + 0x700)
    return struct.unpack("<i", guest.get(4, 0x700))[0] if result == 0 else result


def arm(guest: Any, timer: int, interval: int, value: int, flags: int = 0, old: int = 0) -> int:
    fields = (interval // SECOND, interval % SECOND, value // SECOND, value % SECOND)
    result: int = guest.call("timer_settime", timer, flags, guest.put(struct.pack("<4q", *fields), 0x640), old)
    return result


def block(guest: Any, *signals: int) -> int:
    mask = sum(1 << signal - 1 for signal in signals)
    guest.call("rt_sigprocmask", 0, guest.put(struct.pack("<Q", mask), 0x680), 0, 8)
    at: int = guest.scratch + 0x680
    return at


def wait(guest: Any, mask: int) -> tuple[int, int, int, int, int]:
    """Number, code, timer, overruns and value of the signal that comes."""
    number = guest.call("rt_sigtimedwait", mask, guest.scratch + 0x800, 0, 8)
    signal, _, code, timer, overrun, value = struct.unpack("<3i4xiiQ", guest.get(32, 0x800))
    assert signal == number
    return number, code, timer, overrun, value


def sleep(guest: Any, seconds: int) -> None:
    guest.call("nanosleep", guest.put(struct.pack("<2q", seconds, 0), 0x900), 0)


def test_a_timer_says_which_it_was(guest: Any) -> None:
    mask = block(guest, USR1, RT)
    one, two = create(guest, MONOTONIC, USR1, value=0x1122334455667788), create(guest, REAL, RT, value=7)
    assert (one, two) == (0, 1)
    arm(guest, one, 0, 5 * SECOND)
    arm(guest, two, 0, 2 * SECOND)
    assert wait(guest, mask) == (RT, -2, 1, 0, 7)
    assert guest.process.system.slept == pytest.approx(2 * SECOND, abs=1e6)
    assert wait(guest, mask) == (USR1, -2, 0, 0, 0x1122334455667788)
    assert guest.process.system.slept == pytest.approx(5 * SECOND, abs=1e6)


def test_times_that_nobody_takes_overrun(guest: Any) -> None:
    mask = block(guest, USR1)
    timer = create(guest, MONOTONIC)
    arm(guest, timer, SECOND, SECOND)
    for _ in range(4):
        sleep(guest, 1)
    assert guest.call("timer_getoverrun", timer) == 3
    assert wait(guest, mask)[0] == USR1
    assert wait(guest, mask)[0] == USR1  # the fifth
    assert guest.call("timer_getoverrun", timer) == 0


def test_what_is_left_can_be_asked_and_is_told_when_it_changes(guest: Any) -> None:
    block(guest, USR1)
    timer = create(guest, MONOTONIC)
    arm(guest, timer, 3 * SECOND, 10 * SECOND)
    sleep(guest, 4)
    assert guest.call("timer_gettime", timer, guest.scratch) == 0
    assert struct.unpack("<4q", guest.get(32))[:3] in ((3, 0, 6), (3, 0, 5))
    assert arm(guest, timer, 0, 0, old=guest.scratch + 64) == 0
    assert struct.unpack("<4q", guest.get(32, 64))[:3] in ((3, 0, 6), (3, 0, 5))
    guest.call("timer_gettime", timer, guest.scratch)
    assert struct.unpack("<4q", guest.get(32)) == (0, 0, 0, 0)


def test_a_point_in_time(guest: Any) -> None:
    mask = block(guest, USR1)
    arm(guest, create(guest, REAL), 0, (1_767_225_600 + 50) * SECOND, flags=1)
    wait(guest, mask)
    assert guest.process.system.slept == pytest.approx(50 * SECOND, abs=1e6)


def test_processor_time_does_not_pass_in_sleep(guest: Any) -> None:
    block(guest, USR1)
    for clock in (PROCESSOR, THREAD):
        arm(guest, create(guest, clock), 0, SECOND)
    sleep(guest, 100)
    assert guest.process.signals.pending == 0
    assert guest.process.next_timer() == SECOND  # instructions, of a nanosecond each


def test_without_an_event_it_is_sigalrm_which_ends_the_program(guest: Any) -> None:
    assert guest.call("timer_create", MONOTONIC, 0, guest.scratch) == 0
    arm(guest, 0, 0, SECOND)
    sleep(guest, 5)
    assert guest.end.status == 128 + ALRM


def test_who_tells_nobody_can_be_asked(guest: Any) -> None:
    timer = create(guest, MONOTONIC, 0, notify=1)
    arm(guest, timer, 0, SECOND)
    sleep(guest, 5)
    assert guest.end is None
    guest.call("timer_gettime", timer, guest.scratch)
    assert struct.unpack("<4q", guest.get(32)) == (0, 0, 0, 0)


def test_mistakes(guest: Any) -> None:
    assert create(guest, 77) == -errno.EINVAL
    assert create(guest, MONOTONIC, 99) == -errno.EINVAL
    assert create(guest, MONOTONIC, notify=4, thread=4242) == -errno.EINVAL
    assert create(guest, MONOTONIC, notify=4, thread=1000) == 0
    assert guest.call("timer_delete", 0) == 0 and guest.call("timer_delete", 0) == -errno.EINVAL
    assert guest.call("timer_settime", 5, 0, guest.scratch, 0) == -errno.EINVAL
    timer = create(guest, MONOTONIC)
    assert arm(guest, timer, 0, -SECOND) == -errno.EINVAL
