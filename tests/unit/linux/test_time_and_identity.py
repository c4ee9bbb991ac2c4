"""Clocks, sleeping, ids, limits: fixed by default, the host's on request."""

import errno
import os
import struct
import time
from typing import Any

import pytest

from pfmon.engine.guest_settings import GuestSettings

EPOCH = 1_767_225_600  # 2026-01-01 00:00:00 UTC
host_clock = pytest.mark.parametrize("settings", [GuestSettings(host_clock=True)])


def clock(guest: Any, number: int) -> float:
    assert guest.call("clock_gettime", number, guest.scratch + 512) == 0
    seconds, ns = struct.unpack("<2q", guest.get(16, 512))
    return float(seconds + ns / 1e9)


def test_clocks_start_at_fixed_times_and_advance_by_sleeping_only(guest: Any) -> None:
    assert clock(guest, 0) == pytest.approx(EPOCH, abs=1e-6)
    assert clock(guest, 1) == pytest.approx(1000, abs=1e-6)
    before = time.monotonic()
    assert guest.call("nanosleep", guest.put(struct.pack("<2q", 3600, 500_000_000)), 0) == 0
    assert time.monotonic() - before < 5
    assert clock(guest, 0) == pytest.approx(EPOCH + 3600.5, abs=1e-5)
    assert clock(guest, 7) == pytest.approx(4600.5, abs=1e-5)
    assert clock(guest, 2) < 1e-3  # sleeping takes no processor time
    assert guest.call("gettimeofday", guest.scratch, 0) == 0
    assert struct.unpack("<2q", guest.get(16)) == (EPOCH + 3600, 500_000)
    assert guest.call("times", 0) == int(4600.5 * 1024)
    assert guest.call("clock_gettime", 99, guest.scratch) == -errno.EINVAL
    assert guest.call("nanosleep", guest.put(struct.pack("<2q", 0, 1 << 30)), 0) == -errno.EINVAL


def test_sleep_until_a_point_in_time(guest: Any) -> None:
    assert guest.call("clock_nanosleep", 0, 1, guest.put(struct.pack("<2q", EPOCH + 60, 0)), 0) == 0
    assert clock(guest, 0) == pytest.approx(EPOCH + 60, abs=1e-5)
    assert guest.call("clock_nanosleep", 0, 1, guest.put(struct.pack("<2q", EPOCH, 0)), 0) == 0
    assert clock(guest, 0) == pytest.approx(EPOCH + 60, abs=1e-5)


@host_clock
def test_host_clock_is_seen_and_sleeping_takes_time(guest: Any) -> None:
    assert clock(guest, 0) == pytest.approx(time.time(), abs=5)
    before = time.monotonic()
    guest.call("nanosleep", guest.put(struct.pack("<2q", 0, 30_000_000)), 0)
    assert time.monotonic() - before >= 0.03


def test_interval_timer_counts_down_while_sleeping(guest: Any) -> None:
    guest.call("rt_sigprocmask", 0, guest.put(struct.pack("<Q", 1 << 13)), 0, 8)  # SIGALRM stays pending
    assert guest.call("setitimer", 0, guest.put(struct.pack("<4q", 0, 0, 10, 0)), 0) == 0
    guest.call("nanosleep", guest.put(struct.pack("<2q", 4, 0)), 0)
    assert guest.call("getitimer", 0, guest.scratch) == 0
    assert struct.unpack("<4q", guest.get(32)) == pytest.approx((0, 0, 6, 0)) or guest.words(4)[2] == 5
    guest.call("nanosleep", guest.put(struct.pack("<2q", 7, 0)), 0)
    assert guest.call("rt_sigpending", guest.scratch, 8) == 0
    assert guest.words(1) == (1 << 13,)
    assert guest.call("setitimer", 9, guest.scratch, 0) == -errno.EINVAL


def test_alarm_without_handler_ends_the_program_during_its_sleep(guest: Any) -> None:
    guest.call("setitimer", 0, guest.put(struct.pack("<4q", 0, 0, 2, 0)), 0)
    guest.call("nanosleep", guest.put(struct.pack("<2q", 10, 0)), 0)
    assert guest.end.status == 128 + 14
    assert guest.process.system.slept == pytest.approx(2_000_000_000, abs=1000)


def test_ids_are_fixed(guest: Any) -> None:
    assert [guest.call(name) for name in ("getpid", "getppid", "gettid", "getuid", "getegid")] == [
        1000, 999, 1000, 1000, 1000,
    ]  # fmt: skip
    assert guest.call("setuid", 1000) == 0
    assert guest.call("setuid", 0) == -errno.EPERM
    assert guest.call("getpgid", 0) == 1000
    assert guest.call("getpgid", 5) == -errno.ESRCH
    assert guest.call("getresuid", guest.scratch, guest.scratch + 4, guest.scratch + 8) == 0
    assert struct.unpack("<3I", guest.get(12)) == (1000, 1000, 1000)


@pytest.mark.parametrize("settings", [GuestSettings(host_ids=True)])
def test_host_ids_are_seen_on_request(guest: Any) -> None:
    assert guest.call("getpid") == os.getpid()
    assert guest.call("getuid") == os.getuid()
    guest.call("uname", guest.scratch)
    assert guest.get(65, 65).split(b"\0")[0].decode() == os.uname().nodename


def test_system_names_itself_ia64_linux(guest: Any) -> None:
    assert guest.call("uname", guest.scratch) == 0
    fields = [guest.get(65, 65 * i).split(b"\0")[0] for i in range(6)]
    assert (fields[0], fields[1], fields[4]) == (b"Linux", b"pfmon", b"ia64")


def test_one_processor(guest: Any) -> None:
    assert guest.call("sched_getaffinity", 0, 128, guest.scratch) == 8
    assert guest.words(1) == (1,)
    assert guest.call("sched_getaffinity", 0, 4, guest.scratch) == -errno.EINVAL
    assert guest.call("getcpu", guest.put(b"\xff" * 8), guest.scratch + 4) == 0
    assert guest.words(1) == (0,)


def test_limits_are_kept_and_cannot_be_raised_over_the_hard_ones(guest: Any) -> None:
    assert guest.call("getrlimit", 3, guest.scratch) == 0
    assert guest.words(2) == (8 << 20, (1 << 64) - 1)
    new = guest.put(struct.pack("<2Q", 100, 200), 64)
    assert guest.call("prlimit64", 0, 7, new, guest.scratch) == 0
    assert guest.words(2) == (1024, 1024)
    assert guest.call("prlimit64", 1000, 7, 0, guest.scratch) == 0
    assert guest.words(2) == (100, 200)
    assert guest.call("setrlimit", 7, guest.put(struct.pack("<2Q", 1, 300))) == -errno.EPERM
    assert guest.call("setrlimit", 7, guest.put(struct.pack("<2Q", 2, 1))) == -errno.EINVAL
    assert guest.call("getrlimit", 99, guest.scratch) == -errno.EINVAL


def test_usage_counts_processor_time(guest: Any) -> None:
    assert guest.call("getrusage", 0, guest.scratch) == 0
    assert guest.words(18) == (0,) * 18
    assert guest.call("getrusage", 7, guest.scratch) == -errno.EINVAL
    assert guest.call("sysinfo", guest.scratch) == 0
    assert guest.words(1) == (1000,)


def test_random_bytes_repeat_by_seed() -> None:
    from pfmon.engine.linux.process.random_bytes import RandomBytes

    whole = RandomBytes(5, False).take(100)
    pieces = RandomBytes(5, False)
    assert pieces.take(3) + pieces.take(0) + pieces.take(60) + pieces.take(37) == whole
    assert RandomBytes(6, False).take(100) != whole
    # SplitMix64's published first output for seed 0
    assert RandomBytes(0, False).take(8) == (0xE220A8397B1DCDAF).to_bytes(8, "little")
    assert len(RandomBytes(0, True).take(33)) == 33


def test_single_thread_futex(guest: Any) -> None:
    word = guest.put(struct.pack("<I", 5), 64)
    assert guest.call("futex", word, 0x80, 4, 0) == -errno.EAGAIN
    assert guest.call("futex", word, 0x81, 1) == 0
    assert guest.call("futex", word, 0, 5, guest.put(struct.pack("<2q", 1, 0))) == -errno.ETIMEDOUT
    assert clock(guest, 1) == pytest.approx(1001, abs=1e-5)
    assert guest.call("futex", word + 1, 0, 5, 0) == -errno.EINVAL
    assert guest.call("set_tid_address", word) == 1000
    assert guest.call("set_robust_list", word, 24) == 0


def test_exit_status_is_the_low_byte(guest: Any) -> None:
    guest.call("exit_group", 0x1FF)
    assert guest.end.status == 0xFF


def test_name_of_the_process(guest: Any) -> None:
    guest.call("prctl", 15, guest.text("a name that is too long"))
    assert guest.call("prctl", 16, guest.scratch + 64) == 0
    assert guest.get(16, 64) == b"a name that is \0"
    assert guest.call("prctl", 12345) == -errno.EINVAL
    assert guest.call("wait4") == -errno.ECHILD
