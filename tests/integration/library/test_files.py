"""What a program reads and writes, without the descriptors of the process that it runs in."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import example
from ia64_program import DATA, EXIT, write_program

import pfmon
from pfmon.engine.linux.abi.ia64.syscall_numbers import NUMBERS


def call(name: str, *arguments: int) -> list[str]:
    setting = [f"movl r{32 + number}={value}" for number, value in enumerate(arguments)]
    return ["alloc r39=ar.pfs,8,0,0", *setting, f"addl r15={NUMBERS[name]},r0", "break.m 0x100000"]


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """Reads three bytes and writes them to standard output, and two of them to standard error."""
    lines = [*call("read", 0, DATA, 3), *call("write", 1, DATA, 3), *call("write", 2, DATA, 2)]
    return write_program(tmp_path / "echo", [*lines, *EXIT], b"---")


def test_captured_output_is_what_the_program_wrote() -> None:
    done = pfmon.run([example("fib"), "10"], capture=True)
    assert (done.status, done.output, done.error_output) == (0, b"55 134182\n", b"")
    assert pfmon.run([example("fib"), "10"], stdout=pfmon.DEVNULL).output is None


def test_input_is_read_and_both_outputs_are_kept_apart(echo: Path) -> None:
    done = pfmon.run(echo, input=b"abcdef", capture=True)
    assert (done.output, done.error_output) == (b"abc", b"ab")


def test_nothing_is_read_from_devnull(echo: Path) -> None:
    assert pfmon.run(echo, stdin=pfmon.DEVNULL, capture=True).output == b"---"


def test_files_and_descriptors_are_the_programs(echo: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"xyz")
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as out:
        assert pfmon.run(echo, stdin=given, stdout=out.fileno(), stderr=subprocess.DEVNULL).status == 0
        assert os.get_inheritable(out.fileno()) is False
    assert (tmp_path / "out").read_bytes() == b"xyz"


@pytest.mark.slow
def test_runs_leave_no_descriptor_open(echo: Path) -> None:
    gc.collect()  # what earlier tests left
    before = len(list(Path("/proc/self/fd").iterdir()))
    gc.disable()  # a run's memory does not wait for the collector
    try:
        for options in ({}, {"print_interval": 0.001}, {"per_block": True}):
            pfmon.run(echo, input=b"abc", capture=True, events="cpu_cycles", **options)
            assert len(list(Path("/proc/self/fd").iterdir())) == before
    finally:
        gc.enable()
    for _ in range(3):
        with pytest.raises(pfmon.PfmonError):
            pfmon.run(echo, input=b"abc", capture=True, events="no_such_event")
        pfmon.prepare(echo, capture=True, events="cpu_cycles").close()
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("options", [{"stdout": 12345}, {"stdin": "name"}, {"capture": True, "stdout": 1}])
def test_what_is_no_file_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(pfmon.BadValueError, match=r"^std(in|out)"):
        pfmon.run(example("fib"), **options)


QUIET = """
import os, signal, sys
reader, writer = os.pipe()
os.dup2(writer, 1); os.dup2(writer, 2); os.close(writer)
import pfmon
before = [signal.getsignal(number) for number in range(1, signal.NSIG)]
timer = signal.getitimer(signal.ITIMER_REAL)
command = [sys.argv[1], "100"]
runs = [
    pfmon.run(command, capture=True, events="cpu_cycles", irange="main", no_qual_check=True, timeout=60),
    pfmon.run(command, capture=True, events="loads_retired", levels="ku", dont_start=True),
    pfmon.run(sys.argv[2], capture=True, timeout=0.2),
]
assert all(run.notes for run in runs), runs
try:
    pfmon.run(command, events="nonsense")
except pfmon.PfmonError:
    pass
assert [signal.getsignal(number) for number in range(1, signal.NSIG)] == before
assert signal.getitimer(signal.ITIMER_REAL) == timer
os.write(1, b"end")
os.closerange(1, 3)
data = os.read(reader, 1000)
sys.exit(0 if data == b"end" else 1)
"""


@pytest.mark.slow
def test_runs_write_nothing_of_their_own_and_change_no_signal_handler(tmp_path: Path) -> None:
    waits = write_program(tmp_path / "waits", [*call("rt_sigsuspend", DATA, 8), *EXIT], bytes(8))
    code = [sys.executable, "-c", QUIET, example("hashmap"), str(waits)]
    assert subprocess.run(code, timeout=60, check=False).returncode == 0


INTERRUPT = """
import os, signal, sys, threading, pfmon
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    pfmon.run([sys.argv[1], "100000000000"], events="cpu_cycles")
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.slow
def test_ctrl_c_in_the_main_thread_is_pythons_own() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPT, example("noploop")], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (7, b"")
