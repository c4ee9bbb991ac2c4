"""A run ends when another thread says so, whatever the program does at the moment."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Timer

import pytest
from command import example
from grids import first_quick
from ia64_program import DATA, EXIT, write_program

import pfmon
from pfmon.engine.linux.abi.ia64.syscall_numbers import NUMBERS

SOON = 0.2
LATE = 5.0
"""Seconds: when a run is told to stop, and when it must have ended."""


def call(name: str, *arguments: int) -> list[str]:
    """A system call with these arguments."""
    setting = [f"movl r{32 + number}={value}" for number, value in enumerate(arguments)]
    return ["alloc r39=ar.pfs,8,0,0", *setting, f"addl r15={NUMBERS[name]},r0", "break.m 0x100000"]


def calls(path: Path, lines: Sequence[str], data: bytes = b"") -> Path:
    return write_program(path, [*lines, *EXIT], data)


def stopped(command: object, **options: object) -> pfmon.Run:
    """A run that is stopped soon by another thread, and does end."""
    prepared = pfmon.prepare(command, events="ia64_inst_retired", **options)
    timer = Timer(SOON, prepared.stop)
    timer.start()
    begun = time.monotonic()
    done = prepared.run()
    assert SOON * 0.9 <= time.monotonic() - begun < LATE
    assert (done.stopped, done.status, done.death) == ("stop", 130, None)
    return done


@pytest.mark.slow
def test_a_busy_loop_is_stopped_with_the_counts_so_far() -> None:
    done = stopped([example("noploop"), "100000000000"])
    assert done.counts["ia64_inst_retired"].value == done.retired > 1000


def test_a_busy_loop_on_a_machine_is_stopped() -> None:
    prepared = pfmon.prepare([example("noploop"), "100000000000"], events="cpu_cycles")
    Timer(SOON, prepared.stop).start()
    assert prepared.run().counts[0].value > 1000


def test_a_wait_for_a_signal_is_stopped(tmp_path: Path) -> None:
    done = stopped(calls(tmp_path / "suspend", call("rt_sigsuspend", DATA, 8), bytes(8)))
    assert "the program waits for a signal that only another process could send" in done.notes


def test_a_sleep_on_the_hosts_clock_is_stopped(tmp_path: Path) -> None:
    hour = (3600).to_bytes(8, "little") + bytes(8)
    stopped(calls(tmp_path / "sleep", call("nanosleep", DATA, 0), hour), host_clock=True)


@pytest.mark.parametrize("name", ["read", "poll"])
def test_a_wait_for_a_pipe_is_stopped(tmp_path: Path, name: str) -> None:
    poll = (1 << 32).to_bytes(8, "little")  # descriptor 0, POLLIN
    lines = call("read", 0, DATA, 8) if name == "read" else call("poll", DATA, 1, (1 << 64) - 1)
    reader, writer = os.pipe()
    try:
        stopped(calls(tmp_path / name, lines, poll), stdin=reader)
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("how", first_quick(["interrupt", "timeout"]))
def test_the_command_is_stopped_while_its_program_reads(tmp_path: Path, how: str) -> None:
    path = calls(tmp_path / "read", call("read", 0, DATA, 8), bytes(8))
    limit = ["--session-timeout=0.3"] if how == "timeout" else []
    words = [sys.executable, "-m", "pfmon", *limit, "-e", "ia64_inst_retired", str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        if how == "interrupt":
            while b"read" not in Path(f"/proc/{process.pid}/cmdline").read_bytes() or not in_poll(process.pid):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == {"interrupt": 130, "timeout": 124}[how]
        assert process.stdout and process.stdout.read().split()[1] == b"IA64_INST_RETIRED"


def in_poll(process: int) -> bool:
    """Whether it waits in poll(2), which is number 7 on x86-64 hosts and ppoll, 73, on arm64 ones."""
    return Path(f"/proc/{process}/syscall").read_text().split()[0] in ("7", "73")


def test_a_write_to_a_full_pipe_is_stopped(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    try:
        done = stopped(calls(tmp_path / "write", call("write", 1, DATA, 1 << 17), bytes(1 << 17)), stdout=writer)
        assert done.stopped and len(os.read(reader, 1 << 17)) > 4096
    finally:
        os.close(reader)
        os.close(writer)


def test_a_write_of_more_than_a_pipe_holds_arrives_whole(tmp_path: Path) -> None:
    data = bytes(range(256)) * 1024
    path = calls(tmp_path / "write", call("write", 1, DATA, len(data)), data)
    reader, writer = os.pipe()
    got = bytearray()

    def read() -> None:
        while piece := os.read(reader, 1 << 16):
            got.extend(piece)

    from threading import Thread

    thread = Thread(target=read)
    thread.start()
    done = pfmon.run(path, stdout=writer)
    os.close(writer)
    thread.join()
    os.close(reader)
    assert (done.status, bytes(got)) == (0, data)


def test_a_wait_for_a_lock_is_stopped(tmp_path: Path) -> None:
    import fcntl

    with (tmp_path / "locked").open("w") as holder, (tmp_path / "locked").open("w") as wanting:
        fcntl.flock(holder, fcntl.LOCK_EX)
        path = calls(tmp_path / "lock", call("flock", 0, fcntl.LOCK_EX))
        stopped(path, stdin=wanting)
        fcntl.flock(holder, fcntl.LOCK_UN)
        assert pfmon.run(path, stdin=wanting).status == 0


@pytest.mark.slow
def test_a_time_limit_ends_the_run_in_any_thread() -> None:
    done = pfmon.run([example("noploop"), "100000000000"], events="ia64_inst_retired", timeout=SOON)
    assert (done.stopped, done.status) == ("timeout", 124)


def test_a_run_that_is_stopped_before_it_starts_runs_nothing() -> None:
    prepared = pfmon.prepare([example("fib"), "5"], events="ia64_inst_retired")
    prepared.stop()
    assert prepared.run().counts[0].value == 0


def test_stopping_what_has_ended_does_nothing() -> None:
    prepared = pfmon.prepare([example("fib"), "5"], events="ia64_inst_retired", capture=True)
    done = prepared.run()
    prepared.stop()
    assert (done.stopped, done.status) == ("", 0)
