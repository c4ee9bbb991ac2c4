"""Signal state and sending, and waiting for files: what system calls return and when the program ends."""

import errno
import os
import struct
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon.engine.linux import kernel
from pfmon.engine.linux.abi.ia64 import fault_causes, layout, register_stack
from pfmon.engine.linux.signals.signals import Signal, kill_info
from pfmon.isa.ia64._encodings import Fault

SIGUSR1, SIGSEGV, SIGCHLD, SIGKILL, SIGRT = 10, 11, 17, 9, 34
IGNORE, DEFAULT = 1, 0


def action(guest: Any, signal: int, handler: int, flags: int = 0, mask: int = 0) -> int:
    return int(guest.call("rt_sigaction", signal, guest.put(struct.pack("<3Q", handler, flags, mask)), 0, 8))


def block(guest: Any, mask: int, how: int = 2) -> int:
    return int(guest.call("rt_sigprocmask", how, guest.put(struct.pack("<Q", mask)), 0, 8))


def bit(signal: int) -> int:
    return 1 << (signal - 1)


def test_actions_are_kept(guest: Any) -> None:
    assert action(guest, SIGUSR1, 0x1234, 0x10000004, 0xFF) == 0
    assert guest.call("rt_sigaction", SIGUSR1, 0, guest.scratch, 8) == 0
    assert guest.words(3) == (0x1234, 0x10000004, 0xFF)
    for signal in (SIGKILL, 19, 0, 65):
        assert action(guest, signal, IGNORE) == -errno.EINVAL
    assert guest.call("rt_sigaction", SIGUSR1, 0, 0, 16) == -errno.EINVAL


@pytest.mark.parametrize("signal", [s for s in range(1, 65) if s not in (17, 18, 19, 20, 21, 22, 23, 28)])
def test_default_of_most_signals_is_the_end(guest: Any, signal: int) -> None:
    guest.call("tgkill", 1000, 1000, signal)
    assert guest.end.status == 128 + signal
    assert guest.end.text


@pytest.mark.parametrize("signal", [17, 18, 19, 20, 21, 22, 23, 28])
def test_default_of_some_signals_is_nothing(guest: Any, signal: int) -> None:
    assert guest.call("kill", 1000, signal) == 0
    assert guest.end is None


def test_blocked_signals_wait_and_are_pending_once_but_real_time_ones_queue(guest: Any) -> None:
    block(guest, bit(SIGUSR1) | bit(SIGRT) | bit(SIGKILL))
    for _ in range(3):
        assert guest.call("kill", 0, SIGUSR1) == 0
        assert guest.call("kill", 0, SIGRT) == 0
    assert guest.call("rt_sigpending", guest.scratch, 8) == 0
    assert guest.words(1) == (bit(SIGUSR1) | bit(SIGRT),)
    mask = guest.put(struct.pack("<Q", bit(SIGUSR1) | bit(SIGRT)))
    now = guest.put(bytes(16), 64)
    found = [guest.call("rt_sigtimedwait", mask, 0, now, 8) for _ in range(5)]
    assert found == [SIGUSR1, SIGRT, SIGRT, SIGRT, -errno.EAGAIN]
    guest.call("kill", -1, SIGUSR1)
    block(guest, bit(SIGUSR1), how=1)
    assert guest.end.status == 128 + SIGUSR1


def test_sigkill_cannot_be_blocked(guest: Any) -> None:
    block(guest, (1 << 64) - 1)
    guest.call("kill", 1000, SIGKILL)
    assert guest.end.status == 137


def test_ignoring_a_pending_signal_discards_it(guest: Any) -> None:
    block(guest, bit(SIGUSR1))
    guest.call("kill", 1000, SIGUSR1)
    action(guest, SIGUSR1, IGNORE)
    action(guest, SIGUSR1, DEFAULT)
    block(guest, 0)
    assert guest.end is None


def test_other_processes_do_not_exist(guest: Any) -> None:
    assert guest.call("kill", 1, SIGUSR1) == -errno.ESRCH
    assert guest.call("kill", 1000, 0) == 0
    assert guest.call("kill", 1000, 65) == -errno.EINVAL
    assert guest.call("tgkill", 1000, 1001, SIGUSR1) == -errno.ESRCH


def test_queued_value_arrives_with_its_siginfo(guest: Any) -> None:
    block(guest, bit(SIGRT))
    info = struct.pack("<3i4xiIQ96x", 0, 0, -1, 1000, 1000, 0xABCDEF)
    assert guest.call("rt_sigqueueinfo", 1000, SIGRT, guest.put(info)) == 0
    mask = guest.put(struct.pack("<Q", bit(SIGRT)))
    assert guest.call("rt_sigtimedwait", mask, guest.scratch + 512, 0, 8) == SIGRT
    assert struct.unpack("<3i4xiIQ", guest.get(32, 512)) == (SIGRT, 0, -1, 1000, 1000, 0xABCDEF)


def test_alternate_stack_is_checked_and_reported(guest: Any) -> None:
    assert guest.call("sigaltstack", 0, guest.scratch) == 0
    assert struct.unpack("<Qi4xQ", guest.get(24)) == (0, 2, 0)
    assert guest.call("sigaltstack", guest.put(struct.pack("<Qi4xQ", 0x1000, 0, 1000)), 0) == -errno.ENOMEM
    assert guest.call("sigaltstack", guest.put(struct.pack("<Qi4xQ", 0x1000, 7, 1 << 20)), 0) == -errno.EINVAL
    assert guest.call("sigaltstack", guest.put(struct.pack("<Qi4xQ", 0x1000, 0, 1 << 20)), 0) == 0
    guest.call("sigaltstack", 0, guest.scratch)
    assert struct.unpack("<Qi4xQ", guest.get(24)) == (0x1000, 0, 1 << 20)


def test_forged_signal_frame_ends_the_program_not_pfmon(guest: Any) -> None:
    for pointer in (0, guest.scratch, 0x60000FFFFFFF0000, (1 << 64) - 16):
        guest.registers.set_gr(12, pointer)
        guest.call("rt_sigreturn")
        assert guest.end is None or guest.end.status == 139
    guest.registers.set_gr(12, 8)
    guest.call("rt_sigreturn")
    assert guest.end.status == 139


@given(st.integers(0, 62), st.integers(0, 400), st.integers(0, 1 << 20))
def test_backing_store_arithmetic_counts_what_a_walk_counts(slot: int, registers: int, group: int) -> None:
    start = group * 512 + slot * 8
    at, left = start, registers
    while left:
        at += 8
        if at // 8 % 64 == 63:
            at += 8
        left -= 1
    assert register_stack.skip(start, registers) == at
    assert register_stack.skip(at, -registers) == start
    assert register_stack.count(start, at) == registers


@pytest.mark.parametrize(
    ("kind", "code", "signal"),
    [
        (1, 0, 4),
        (2, 0, 4),
        (5, 0, 4),
        (7, 0, 7),
        (8, 0, 11),
        (9, 0, 11),
        (10, 0, 11),
        (12, 0x44, 8),
        (13, 0x880, 8),
        (16, 0, 4),
        (16, 1, 8),
        (16, 0x80000, 5),
        (16, 0x3FFFF, 4),
        (19, 0, 11),
        (77, 0, 4),
    ],
)
def test_fault_becomes_its_signal(guest: Any, kind: int, code: int, signal: int) -> None:
    death = kernel.fault(guest.process, kind, 0x1234, code)
    assert death.signal == signal
    assert death.text


def test_ignored_fault_ends_the_program_all_the_same(guest: Any) -> None:
    action(guest, SIGSEGV, IGNORE)
    assert kernel.fault(guest.process, 8, 0, 0).status == 139


def test_every_fault_has_a_signal() -> None:
    told_by_code = {Fault.FAULT_NONE, Fault.FAULT_BREAK, Fault.FAULT_FP_FAULT, Fault.FAULT_FP_TRAP}
    of_system_mode = {fault for fault in Fault if fault >= Fault.FAULT_VHPT_TRANSLATION}
    assert set(fault_causes.CAUSES) == set(Fault) - told_by_code - of_system_mode


def test_gate_page_returns_from_handlers() -> None:
    from pfmon.isa.ia64 import disassemble

    assert disassemble is not None
    page = layout.gate_page(1 << 14)
    bundle = int.from_bytes(page[layout.SIGNAL_RETURN_OFFSET :][:16], "little")
    template, slots = bundle & 31, [bundle >> (5 + 41 * i) & (1 << 41) - 1 for i in range(3)]
    assert template == 0x0B  # MMI with stops after slots 0 and 2
    number = slots[0] >> 13 & 0x7F | (slots[0] >> 27 & 0x1FF) << 7  # addl: imm7b, imm9d
    assert (slots[0] >> 37, slots[0] >> 6 & 0x7F, number) == (9, 15, 1024 + 157)
    assert (slots[1] >> 6 & 0xFFFFF | (slots[1] >> 36 & 1) << 20, slots[1] >> 37) == (0x100000, 0)


def test_poll_reports_what_is_ready(guest: Any) -> None:
    reader = guest.call("pipe")
    writer = guest.registers.gr(9)

    def poll(timeout: int) -> tuple[int, list[int]]:
        entries = struct.pack("<ihhihhihhihh", reader, 1, 0, writer, 4, 0, 99, 1, 0, -1, 1, 0)
        found = guest.call("poll", guest.put(entries), 4, timeout)
        return found, [struct.unpack_from("<h", guest.get(32), 8 * i + 6)[0] for i in range(4)]

    assert poll(-1) == (2, [0, 4, 32, 0])
    guest.call("write", writer, guest.scratch, 1)
    assert poll(0) == (3, [1, 4, 32, 0])
    guest.call("close", writer)
    assert poll(0)[1][0] == 1 | 16
    assert guest.call("poll", guest.scratch, 5000, 0) == -errno.EINVAL
    assert guest.call("poll", 0, 1, 0) == -errno.EFAULT


def test_poll_and_select_without_files_sleep_in_guest_time(guest: Any) -> None:
    before = time.monotonic()
    assert guest.call("poll", 0, 0, 60_000) == 0
    assert guest.call("select", 0, 0, 0, 0, guest.put(struct.pack("<2q", 60, 0))) == 0
    assert time.monotonic() - before < 5
    assert guest.process.system.slept == pytest.approx(120e9, abs=1e6)


def test_select_sets(guest: Any) -> None:
    reader = guest.call("pipe")
    writer = guest.registers.gr(9)
    both = 1 << reader | 1 << writer
    guest.put(struct.pack("<2Q", both, both), 64)
    assert guest.call("pselect6", 10, guest.scratch + 64, guest.scratch + 72, 0, guest.put(bytes(16)), 0) == 1
    assert guest.words(2, 64) == (0, 1 << writer)
    guest.put(struct.pack("<Q", 1 << 50), 64)
    assert guest.call("select", 60, guest.scratch + 64, 0, 0, 0) == -errno.EBADF


def test_alarm_interrupts_a_blocking_read(guest: Any) -> None:
    reader = guest.call("pipe")
    guest.call("setitimer", 0, guest.put(struct.pack("<4q", 0, 0, 0, 30_000)), 0)
    before = time.monotonic()
    guest.call("read", reader, guest.scratch, 1)
    assert guest.end.status == 128 + 14
    assert time.monotonic() - before < 5  # nobody else can write to the pipe: guest time is skipped
    assert guest.process.system.slept == pytest.approx(30_000_000, abs=1000)


def test_sleep_with_signal_from_outside(guest: Any) -> None:
    guest.process.send(Signal(15, kill_info(15, 0, 0, 0)))
    end = kernel.pending_signals(guest.process)
    assert end.status == 143


def test_standard_descriptors_are_absent_if_the_host_has_them_closed() -> None:
    import subprocess
    import sys

    code = (
        "from pfmon.engine.linux.files.file_table import FileTable\nimport os\n"
        "f = open(os.devnull)\nassert f.fileno() == 0\nos.write(1, repr(FileTable(9).numbers()).encode())"
    )
    run = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -c "$0" <&-', code],
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    assert run.stdout == "[1, 2]", run.stderr
